"""Pages have the templates that they name, and a refused form is never shown again without a word about why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import meta

import potluck
from potluck.web.access import SignedIn
from potluck.web.actions import Actions, Show
from potluck.web.app import App, Core
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import ProblemError
from potluck.web.forms import Form
from potluck.web.inputs import Input
from potluck.web.layout import Templates
from potluck.web.template_names import SET_BY_PAGES
from potluck.web.writes import Writes
from tests.toy.app import NotesApp
from tests.toy.books import NewBook
from tests.web.suites import app_with, bearer, signed_up, suite_on

SENTENCE = "The shelf is full"


class ShelfFull(ProblemError, slug="shelf-full", status=409, title="No room"):
    """There is no room on the shelf."""

    def __init__(self) -> None:
        super().__init__(SENTENCE)


shelves = Actions(SignedIn, page="/shelf")


@shelves.page("/silent", "notes/books.html")
async def silent(at: SignedIn) -> dict[str, Any]:
    return {"books": [], "form": Form.blank(NewBook), "app": "notes", "here": "Notes"}


@shelves.page("/telling", "notes/books.html")
async def telling(at: SignedIn, show: Show) -> dict[str, Any]:
    return {"books": [], "form": show.form(NewBook), "app": str(show.refusal) and "notes", "here": "Notes"}


@shelves.form("/silent", then="/shelf/silent", on=silent)
async def put_silently(at: SignedIn) -> Writes[None]:
    raise ShelfFull


@shelves.form("/telling", then="/shelf/telling", on=telling)
async def put_and_tell(at: SignedIn) -> Writes[None]:
    raise ShelfFull


def shelf_app(core: Core) -> App:
    return app_with("shelf", subjects=[shelves])(core)


async def test_what_a_page_does_not_say_of_a_refusal_stands_above_it(tmp_path):
    async with suite_on(tmp_path, [NotesApp, shelf_app]) as (client, _):
        by = bearer(await signed_up(client)) | {"accept": "text/html"}
        shown = await client.get("/shelf/silent", headers=by)
        assert SENTENCE not in shown.text
        refused = await client.post("/shelf/silent", headers=by)
        assert (refused.status_code, refused.text.count(SENTENCE)) == (409, 1)
        # One that looks at why says it in its own place, or on purpose not at all.
        assert SENTENCE not in (await client.post("/shelf/telling", headers=by)).text


# --- templates -------------------------------------------------------------------------------------------------------


async def test_a_template_that_is_not_there_is_said_when_the_app_is_put_together(tmp_path):
    subject: Actions[Any] = Actions(SignedIn, page="/attic")
    subject.page("", "notes/bocks.html")(silent)

    def attic_app(core: Core) -> App:
        return app_with("attic", subjects=[subject])(core)

    with pytest.raises(DeclarationError, match=r"there is no template notes/bocks\.html"):
        async with suite_on(tmp_path, [NotesApp, attic_app]):
            pass


@pytest.mark.parametrize(
    "defined",
    [
        "{% macro refused(note) %}{{ note }}{% endmacro %}",
        "{% set refused = 'Sold' %}",
        "{% set one, apps = 1, 2 %}",
        "{% if form %}{%- set icon = 'x' %}{% endif %}",
        "{% import 'notes/row.html' as banner %}",
        "{% from 'notes/row.html' import icon %}",
        "{% from 'components/icons.html' import avatar as icon %}",
        "{% set apps %}none{% endset %}",
    ],
)
@pytest.mark.parametrize("extended", ["page.html", "attic/frame.html"])
async def test_a_page_that_takes_a_name_of_the_layout_is_refused_when_the_app_is_put_together(
    tmp_path, defined, extended
):
    (tmp_path / "templates" / "attic").mkdir(parents=True)
    (tmp_path / "templates" / "attic" / "frame.html").write_text('{% extends "page.html" %}')
    (tmp_path / "templates" / "attic" / "shelf.html").write_text(f'{{% extends "{extended}" %}}\n{defined}')

    def attic_app(core: Core) -> App:
        return app_with("attic", templates=tmp_path / "templates")(core)

    with pytest.raises(
        DeclarationError, match=r"attic/shelf\.html: \w+ is a name of the layout; call it something else"
    ):
        async with suite_on(tmp_path, [attic_app]):
            pass


def test_a_page_may_say_what_the_layout_asks_import_what_it_imports_and_set_anything_in_a_block(tmp_path):
    (tmp_path / "shelf.html").write_text(
        """{% extends "page.html" %}{% from "components/icons.html" import icon, avatar %}
        {% set watched, here = true, 1 %}
        {% macro shelf(refused) %}{% set icon = refused %}{{ icon }}{% endmacro %}
        {% block main %}{% set refused = "it" %}{{ shelf(refused) }}{% endblock %}"""
    )
    (tmp_path / "row.html").write_text("{% macro refused() %}{% endmacro %}")
    templates = Templates((), [tmp_path])
    assert {"refused", "icon", "banner", "apps"} <= templates.reserved
    assert not templates.reserved & SET_BY_PAGES


async def test_a_rule_that_gives_the_layout_a_name_of_its_own_fails_at_the_first_look(tmp_path, caplog):
    async def shown(at: SignedIn) -> dict[str, Any]:
        return {"refused": "Sold", "books": []}

    attic: Actions[Any] = Actions(SignedIn, page="/attic")
    attic.page("", "notes/books.html")(shown)

    def attic_app(core: Core) -> App:
        return app_with("attic", subjects=[attic])(core)

    async with suite_on(tmp_path, [NotesApp, attic_app]) as (client, _):
        ada = await signed_up(client)
        # Which names a rule returns is known only when it has run.
        assert (await client.get("/attic", headers=bearer(ada))).status_code == 500
    assert "shown: refused is for the layout; call it something else" in caplog.text


class AtShelf(SignedIn):
    """Somebody at one shelf of the attic."""

    shelf: str


class Needed(Input):
    where: str


def forms_without_a_page_of_theirs() -> Iterator[tuple[Actions[Any], Actions[Any] | None, str]]:
    async def shown(at: SignedIn) -> dict[str, Any]:
        return {}

    async def shelf(at: AtShelf) -> dict[str, Any]:
        return {}

    async def asked(at: SignedIn, needed: Needed) -> dict[str, Any]:
        return {}

    attic: Actions[Any] = Actions(SignedIn, page="/attic")
    attic.form("/silent", then="/attic", on=shown)(put_silently)
    yield attic, None, "put_silently: on: shown is the rule of no page of this app"
    attic, shelves = Actions(SignedIn, page="/attic"), Actions[Any](AtShelf, page="/attic/{shelf}")
    shelves.page("", "notes/books.html")(shelf)
    attic.form("/silent", then="/attic", on=shelf)(put_silently)
    yield attic, shelves, r"put_silently: on: shelf needs \['shelf'\], which /attic/silent has not"
    attic = Actions(SignedIn, page="/attic")
    attic.page("", "notes/books.html")(asked)
    attic.form("/silent", then="/attic", on=asked)(put_silently)
    yield attic, None, "put_silently: on: give every field of Needed a default"
    attic = Actions(SignedIn, page="/attic")
    attic.page("", "notes/books.html")(shown)
    attic.form("/silent", then="", on=shown)(put_silently)
    yield attic, None, "put_silently: then: shown must take a Show"


@pytest.mark.parametrize(
    ("subject", "other", "said"),
    [*forms_without_a_page_of_theirs()],
    ids=["no page", "other parameters", "needs a query", "drops the answer"],
)
async def test_a_form_whose_page_cannot_be_shown_is_refused_when_the_app_is_put_together(
    tmp_path, subject, other, said
):
    def attic_app(core: Core) -> App:
        return app_with("attic", subjects=[subject] if other is None else [subject, other])(core)

    with pytest.raises(DeclarationError, match=said):
        async with suite_on(tmp_path, [NotesApp, attic_app]):
            pass


def test_every_template_compiles_and_so_does_what_it_names():
    folders = sorted((Path(potluck.__file__).parent / "apps").glob("*/templates"))
    templates = Templates((), folders)
    assert len(templates.names) > 50
    for name in templates.names:
        templates.environment.get_template(name)
        source, *_ = templates.environment.loader.get_source(templates.environment, name)
        named = set(meta.find_referenced_templates(templates.environment.parse(source)))
        # None is a name that is made up when it is shown, of those that compile here as well.
        assert named - {None} <= templates.names, name
