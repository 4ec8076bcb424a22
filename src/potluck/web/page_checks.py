"""What is checked when the pages of an app are assembled: the templates they name, and the pages they lead to."""

from collections.abc import Mapping, Set
from inspect import iscoroutinefunction
from typing import Any

from msgspec.structs import fields

from potluck.web.declarations import Action, Declared, Instead, Listing, Page, Redirect
from potluck.web.entity_fields import DeclarationError
from potluck.web.redirects import PATH_PARAMETER, must_be_there


def must_have_templates(declared: Declared, names: Set[str]) -> None:
    """A DeclarationError for a template that does not exist."""
    if isinstance(declared, Page):
        _must_be_template(declared.name, declared.template, names)
        _must_be_template(declared.access.__name__, declared.access.preview, names)
    elif isinstance(declared, Listing):
        _must_be_template(declared.name, declared.row, names)


def _must_be_template(whose: str, name: str | None, names: Set[str]) -> None:
    if name and name not in names:
        raise DeclarationError(f"{whose}: there is no template {name}")


def must_have_pages(declared: Declared, pages: Mapping[Any, Page]) -> None:
    """A DeclarationError if a page of `on` or `instead` could not be shown at this address."""
    if isinstance(declared, Page):
        _must_lead(declared, declared.address, declared.instead, pages)
    elif isinstance(declared, Action) and declared.form is not None:
        form = declared.form
        _must_lead(declared, declared.form_path, form.instead, pages)
        if form.on is None:
            return
        page = _must_be_page(declared, form.on, pages, "on")
        _must_show(declared, declared.form_path, page, "on")
        if form.then == "" and not page.takes_show:
            raise DeclarationError(
                f"{declared.name}: then: {page.name} must take a Show, which has the answer as `done`"
            )


def _must_lead(declared: Declared, address: str | None, instead: Instead, pages: Mapping[Any, Page]) -> None:
    for where in instead.values():
        if isinstance(where, str | Redirect):
            to = where if isinstance(where, str) else where.address
            must_be_there(declared.name, to, PATH_PARAMETER.findall(address or to), type(None), "instead")
        elif where in pages or iscoroutinefunction(where):
            _must_show(declared, address, _must_be_page(declared, where, pages, "instead"), "instead")


def _must_be_page(declared: Declared, rule: Any, pages: Mapping[Any, Page], option: str) -> Page:
    if rule not in pages:
        raise DeclarationError(f"{declared.name}: {option}: {rule.__name__} is the rule of no page of this app")
    return pages[rule]


def _must_show(declared: Declared, address: str | None, page: Page, option: str) -> None:
    # Where a page without an address is shown, only the declarations that name it know.
    known = PATH_PARAMETER.findall(address or page.address or "")
    missing = [name for name in PATH_PARAMETER.findall(page.address or "") if name not in known]
    if missing:
        raise DeclarationError(f"{declared.name}: {option}: {page.name} needs {missing}, which {address} has not")
    if page.input is not None and any(field.required for field in fields(page.input)):
        raise DeclarationError(f"{declared.name}: {option}: give every field of {page.input.__name__} a default")
