"""Every module of an app that declares something is listed, also one that nothing else imports."""

import sys
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest

from potluck.web.access import Anyone
from potluck.web.actions import Actions
from potluck.web.app import App
from potluck.web.endpoints import Endpoints
from potluck.web.inputs import DeclarationError
from potluck.web.modules import declared_in, must_be_listed

PACKAGES = {
    "potluck.web.people": "potluck.web.people",
    **{
        f"potluck.apps.{app}": f"potluck.apps.{app}.app"
        for app in ("journal", "library", "polls", "shareables", "shopping")
    },
}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_that_declares_something_is_listed(package):
    (app,) = [
        value
        for value in vars(import_module(PACKAGES[package])).values()
        if isinstance(value, type) and issubclass(value, App) and value is not App
    ]
    for found in walk_packages(import_module(package).__path__, f"{package}."):
        import_module(found.name)
    must_be_listed(app.modules, app.subjects)
    own = [module for name, module in sys.modules.items() if name.startswith(f"{package}.")]
    declared = {value for module in own for value in vars(module).values() if isinstance(value, Actions | Endpoints)}
    assert declared - {*app.subjects, *app.endpoints} == set()


def test_a_module_whose_rule_is_not_listed_is_refused():
    listed, forgotten = ModuleType("den.dens"), ModuleType("den.pages")
    dens = listed.dens = Actions(Anyone, page="/dens")

    async def page(at: Anyone) -> dict[str, str]:
        return {}

    page.__module__ = forgotten.__name__
    page.__globals__["Anyone"] = Anyone
    dens.page("", "den.html")(page)
    with pytest.raises(DeclarationError, match=r"page: add its module to the app's `modules`: den\.pages"):
        type("Den", (App,), {"modules": [listed]})
    assert declared_in([listed, forgotten]) == ([dens], [])
