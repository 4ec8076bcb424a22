"""Messages in templates: each language has templates of its own, into which its texts are compiled.

    {{ _("Add %(name)s", name=item.name) }}
    {{ ngettext("%(num)s item", "%(num)s items", count) }}
    {% trans name=item.name %}Add <b>{{ name }}</b>{% endtrans %}

A message without a number costs nothing when a page is rendered. In `_` and `ngettext` it is plain text, and escaped;
in `{% trans %}` it is markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.ext import InternationalizationExtension
from jinja2.visitor import NodeTransformer
from markupsafe import Markup, escape

from potluck.web.translation import ENGLISH, Language, shown_count

PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%")
# What the tag `trans` calls; `_` and `ngettext` are what people call.
OF_TAG = "gettext"
COUNTED_OF_TAG = "_counted_markup"


class TransTag(InternationalizationExtension):
    """The tag `trans`, whose messages are markup."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.newstyle_gettext = True  # type: ignore[attr-defined]

    def _make_node(self, *arguments: Any, **named: Any) -> nodes.Output:
        output = super()._make_node(*arguments, **named)
        called = cast(nodes.Name, cast(nodes.Call, output.nodes[0]).node)
        if called.name == "ngettext":
            called.name = COUNTED_OF_TAG
        return output


class TranslatedEnvironment(Environment):
    """Compiles the texts of one language into its templates."""

    def __init__(self, language: Language = ENGLISH, **options: Any) -> None:
        super().__init__(extensions=[TransTag], **options)
        # A sentence in several lines of a template is one line for translators.
        self.policies["ext.i18n.trimmed"] = True
        self.language = language
        self.globals |= {
            "ngettext": _counted(language, escape),
            COUNTED_OF_TAG: _counted(language, Markup),
            "language": language,
        }

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        return super()._generate(_Translator(self.language, name).visit(source), name, filename, defer_init)


class _Translator(NodeTransformer):
    """Replaces each call with a message by its translation."""

    def __init__(self, language: Language, template: str | None) -> None:
        self._language = language
        self._template = template

    def visit_Call(self, call: nodes.Call) -> nodes.Node:
        self.generic_visit(call)
        called = call.node
        if not isinstance(called, nodes.Name) or called.name not in ("_", OF_TAG):
            return call
        if len(call.args) != 1 or not isinstance(call.args[0], nodes.Const):
            raise TemplateSyntaxError("a message is one text in quotes", call.lineno, self._template)
        as_markup = Markup if called.name == OF_TAG else escape
        values = {keyword.key: keyword.value for keyword in call.kwargs}
        message = call.args[0].value
        pieces = _pieces(self._language.singular(message), values, as_markup, call.lineno)
        if pieces is None:
            # A translation that names something else; an English text that does is a mistake.
            pieces = _pieces(message, values, as_markup, call.lineno)
        if pieces is None:
            raise TemplateSyntaxError(f"there is no value for a name in: {message}", call.lineno, self._template)
        return pieces[0] if len(pieces) == 1 else nodes.Concat(pieces, lineno=call.lineno)

    def visit_Output(self, output: nodes.Output) -> nodes.Node:
        self.generic_visit(output)
        # Each piece is written by itself, like any other text of the template.
        output.nodes = list(_flat(output.nodes))
        return output


def _flat(shown: list[nodes.Expr]) -> Iterator[nodes.Expr]:
    for node in shown:
        if isinstance(node, nodes.Concat) and any(isinstance(piece, nodes.TemplateData) for piece in node.nodes):
            yield from _flat(node.nodes)
        else:
            yield node


def _pieces(
    message: str, values: Mapping[str, nodes.Expr], as_markup: Callable[[str], Markup], line: int
) -> list[nodes.Expr] | None:
    """The texts and values that a message is made of; None if it names a value that there is not."""
    pieces: list[nodes.Expr] = []
    text, at = "", 0
    for found in PLACEHOLDER.finditer(message):
        text += message[at : found.start()]
        at = found.end()
        name = found[1]
        if name is None:
            text += "%"
            continue
        if name not in values:
            return None
        if text:
            pieces.append(nodes.TemplateData(str(as_markup(text)), lineno=line))
        pieces.append(values[name])
        text = ""
    text += message[at:]
    # Something of the message is text, so that all of it becomes markup when it is put together.
    if text or not pieces or len(pieces) == 1:
        pieces.append(nodes.TemplateData(str(as_markup(text)), lineno=line))
    return pieces


def _counted(language: Language, as_markup: Callable[[str], Markup]) -> Callable[..., Markup]:
    forms: dict[str, Markup] = {}

    def ngettext(singular: str, plural: str, num: int, **values: Any) -> Markup:
        text = language.plural(singular, plural, num)
        form = forms.get(text)
        if form is None:
            form = forms[text] = as_markup(text)
        values.setdefault("num", shown_count(num, language))
        return form % values

    return ngettext
