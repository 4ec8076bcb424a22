"""The names of the layout, which the pages of apps leave to it.

A name that a template defines at its top is the layout's too, once it extends it: a macro `refused` would be shown as
the reason of a refusal, and its own `icon` would be replaced by the layout's. So both are refused when the suite
is assembled.
"""

import re
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from jinja2 import Environment, TemplateNotFound, meta, nodes
from jinja2.defaults import DEFAULT_NAMESPACE

from potluck.web.entity_fields import DeclarationError

LAYOUT = "page.html"
SET_BY_PAGES = frozenset({"app", "here", "sections", "back", "person", "me", "sign_in", "watched"})
"""What a page says to the layout; its first lines explain each."""

# What may define a name. Cheap to search for: parsing every template would take as long as the rest of the start.
DEFINING = re.compile(r"""{%[-+]?\s*(?:(?:macro|set|import)\b([^%]*)|from\s+(["'][^"']*["'])\s+import\b([^%]*))""")


class _Defined(NamedTuple):
    name: str
    source: str | None = None
    """The template it is imported from."""


def reserved_names(environment: Environment) -> frozenset[str]:
    """What only the layout may define, or be given by the layer."""
    layout = _parsed(environment, LAYOUT)
    own = {definition.name for definition in _defined(layout)} | (environment.globals.keys() - DEFAULT_NAMESPACE.keys())
    return frozenset((meta.find_undeclared_variables(layout) | own) - SET_BY_PAGES)


def must_leave_names(environment: Environment, names: Set[str], reserved: frozenset[str]) -> None:
    """A DeclarationError for a page that defines a name of the layout as something else."""
    layout = set(_defined(_parsed(environment, LAYOUT)))
    sources = {f'"{definition.source.partition(":")[0]}"' for definition in layout if definition.source is not None}
    word = re.compile(rf"\b(?:{'|'.join(sorted(reserved))})\b")
    for name in sorted(name for name in names if name.endswith(".html") and name != LAYOUT):
        source = _source(environment, name)
        if not any(
            word.search(defined or imported) and (template not in sources or " as " in imported)
            for defined, template, imported in DEFINING.findall(source)
        ):
            continue
        page = environment.parse(source)
        if LAYOUT not in _extended(environment, page):
            continue
        for definition in _defined(page):
            # Importing what the layout imports, from where it does, changes nothing.
            if definition.name in reserved and not (definition.source is not None and definition in layout):
                raise DeclarationError(f"{name}: {definition.name} is a name of the layout; call it something else")


def _extended(environment: Environment, page: nodes.Template) -> list[str]:
    """The templates that a page extends, one after the other."""
    parents: list[str] = []
    while True:
        above = page.find(nodes.Extends)
        if above is None or not isinstance(above.template, nodes.Const) or above.template.value in parents:
            return parents
        parents.append(above.template.value)
        try:
            page = _parsed(environment, parents[-1])
        except TemplateNotFound:
            return parents


def _defined(page: nodes.Template) -> Iterator[_Defined]:
    """What a template defines at its top; what is set in a block stays there."""
    for node in _at_the_top(page.body):
        if isinstance(node, nodes.Macro):
            yield _Defined(node.name)
        elif isinstance(node, nodes.Assign | nodes.AssignBlock):
            yield from (_Defined(target.name) for target in node.target.find_all(nodes.Name))
            if isinstance(node.target, nodes.Name):
                yield _Defined(node.target.name)
        elif isinstance(node, nodes.Import):
            yield _Defined(node.target, _from(node))
        elif isinstance(node, nodes.FromImport):
            for imported in node.names:
                original, alias = imported if isinstance(imported, tuple) else (imported, imported)
                yield _Defined(alias, f"{_from(node)}:{original}")


def _from(node: nodes.Import | nodes.FromImport) -> str:
    return node.template.value if isinstance(node.template, nodes.Const) else ""


def _at_the_top(body: Iterable[nodes.Node]) -> Iterator[nodes.Node]:
    for node in body:
        if isinstance(node, nodes.If):
            yield from _at_the_top([*node.body, *node.elif_, *node.else_])
        elif not isinstance(node, nodes.Block):
            yield node


def _parsed(environment: Environment, name: str) -> nodes.Template:
    return environment.parse(_source(environment, name))


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
