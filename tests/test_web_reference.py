"""The reference of the app layer names all that the layer exports, and its program does what the page says."""

import ast
import importlib
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID, uuid4

import pytest

from potluck.table import absent
from potluck.web.views import view_plan
from tests.engine_targets import EMBEDDED
from tests.patience import until
from tests.stores import recorded_store
from tests.web.suites import app_with, ask, data, problem, signed_up, suite_on

FOLDER = Path(__file__).parent.parent / "docs" / "web"
COMPONENTS = FOLDER.parent.parent / "src" / "potluck" / "web" / "templates" / "components"
MODULES = (
    "potluck.validation.field_types",
    *(
        f"potluck.web.{name}"
        for name in ("access", "actions", "app", "endpoints", "inputs", "invitations", "updates", "views", "writes")
    ),
    *(f"potluck.web.places.{name}" for name in ("access", "place", "rows")),
)
NO_CLUB = "00000000-0000-4000-8000-000000000000"


def reference() -> str:
    """The reference as one text: its first page, then the others in the order in which that lists them."""
    first = (FOLDER / "README.md").read_text()
    listed = re.findall(r"^\| \[[^]]+\]\((\w+\.md)\)", first, re.M)
    return "\n".join([first, *((FOLDER / name).read_text() for name in listed)])


def test_the_first_page_of_the_reference_lists_all_others():
    listed = re.findall(r"\]\((\w+\.md)\)", (FOLDER / "README.md").read_text())
    assert {*listed, "README.md"} == {path.name for path in FOLDER.iterdir()}


@pytest.fixture(scope="module")
def program():
    """The Python on the pages, run from top to bottom."""
    names = {"__name__": "shed"}
    for snippet in re.findall(r"```python\n(.*?)```", reference(), re.S):
        exec(compile(snippet, "docs/web", "exec"), names)
    return names


@pytest.mark.parametrize("module", MODULES)
def test_every_name_that_the_front_door_has_from_a_module_is_in_the_reference(module):
    code = " ".join(re.findall(r"```python\n.*?```|`[^`\n]+`", reference(), re.S))
    named = set(re.findall(r"\w+", code))
    package = importlib.import_module(".".join(module.split(".")[:2]))
    door = ast.parse(next(Path(package.__file__).parent.glob("__init__.pyi"), Path(package.__file__)).read_text())
    offered = {
        name.name
        for line in door.body
        if isinstance(line, ast.ImportFrom) and line.module == module
        for name in line.names
    }
    assert offered
    assert offered - named == set()


async def test_the_program_of_the_reference_works(program, tmp_path):
    cores = []

    def shed_app(core):
        cores.append(core)
        return app_with(
            "shed",
            tables=[program["shed"]],
            subjects=[program["tools"], program["members"]],
            consumers=program["consumers_of"](core.store),
            templates=tmp_path,
        )(core)

    (tmp_path / "shed").mkdir()
    for name in re.findall(r'"shed/(\w+\.html)"', reference()):
        (tmp_path / "shed" / name).touch()
    async with suite_on(tmp_path, [shed_app]) as (client, _):
        ada, bo, eve = [await signed_up(client, f"{name}@example.org", name) for name in ("Ada", "Bo", "Eve")]
        club = program["Club"](club_id=uuid4(), name="Elm Street")
        await cores[0].store.put(club, when=absent)
        path = f"/clubs/{club.club_id}/tools"
        problem(await ask(client, "GET", f"/clubs/{NO_CLUB}/tools", by=ada), 404, "not-found")
        assert data(await ask(client, "GET", path, by=ada))["items"] == []
        saw = data(await ask(client, "POST", path, {"name": " Saw "}, by=ada), 201)
        assert (saw["name"], saw["lendable"]) == ("Saw", True)
        loans = f"{path}/{saw['toolId']}/loans"
        assert data(await ask(client, "POST", loans, by=ada), 201)["left"] == 0
        problem(await ask(client, "POST", loans, by=ada), 409, "have-one")
        problem(await ask(client, "POST", loans, by=bo), 409, "none-left")
        one = f"{path}/{saw['toolId']}"
        renamed = data(await ask(client, "PATCH", one, {"name": "Bow saw", "version": 1}, by=bo))
        assert (renamed["name"], renamed["left"], renamed["version"]) == ("Bow saw", 0, 2)

        # Oneself, the owner, or an admin; a thing that is not there is 404 for every member.
        for who, role in ((ada, "admin"), (bo, "member"), (eve, "member")):
            await cores[0].store.put(program["Member"](club_id=club.club_id, user_id=UUID(who["userId"]), role=role))
        drill = data(await ask(client, "POST", path, {"name": "Drill"}, by=bo), 201)
        problem(await ask(client, "DELETE", f"{path}/{drill['toolId']}", by=eve), 403, "forbidden")
        data(await ask(client, "DELETE", f"{path}/{drill['toolId']}", by=bo), 204)
        problem(await ask(client, "DELETE", f"{path}/{drill['toolId']}", by=bo), 404, "not-found")
        in_club = f"/clubs/{club.club_id}/members"
        problem(await ask(client, "DELETE", f"{in_club}/{eve['userId']}", by=bo), 403, "forbidden")
        data(await ask(client, "DELETE", f"{in_club}/{bo['userId']}", by=bo), 204)
        problem(await ask(client, "DELETE", one, by=eve), 403, "forbidden")
        data(await ask(client, "DELETE", f"{in_club}/{eve['userId']}", by=ada), 204)
        problem(await ask(client, "DELETE", one, by=eve), 404, "not-found")
        store, at = cores[0].store, SimpleNamespace(store=cores[0].store, club_id=club.club_id)
        shown = await view_plan(program["OwnedToolView"]).show_many(
            at, await store.all(program["Tool"].of_club(at.club_id))
        )
        assert [(tool.name, tool.owner_has_left) for tool in shown] == [("Bow saw", False)]

        async def one_tool_is_counted():
            return (await store.one(program["Club"].by_id(club.club_id))).tool_count == 1

        await until(one_tool_is_counted)
        loans_of_saw = program["Loan"].of_tool(UUID(saw["toolId"]))
        assert len(await store.all(loans_of_saw)) == 1
        data(await ask(client, "DELETE", one, by=ada), 204)

        async def no_loan_is_left():
            return not await store.all(loans_of_saw)

        await until(no_loan_is_left)


async def test_the_counts_of_the_reference_are_right_after_a_rebuild_and_a_second_reading(program, tmp_path):
    async with recorded_store(EMBEDDED, tmp_path, program["shed"]) as (store, _):
        club_id, now = uuid4(), datetime.now(UTC)
        await store.put(program["Club"](club_id=club_id, name="Elm Street"), when=absent)
        times = {"created_at": now, "updated_at": now}
        tools = [
            program["Tool"](club_id=club_id, tool_id=uuid4(), owner_id=uuid4(), name=name, **times)
            for name in ("Saw", "Drill", "Rake")
        ]
        for tool in tools:
            await store.put(tool, when=absent)
        await store.delete(tools[0])
        counts = program["ToolCounts"](store)
        await counts.rebuild()
        assert (await store.one(program["Club"].by_id(club_id))).tool_count == 2
        for tool in tools:
            await store.transact(*await counts.follow(tool))
        assert (await store.one(program["Club"].by_id(club_id))).tool_count == 2
        await store.delete(program["Club"].by_id(club_id))
        assert await counts.follow(tools[1]) == []


async def test_the_tools_of_a_deleted_club_go_in_steps(program, tmp_path):
    async with recorded_store(EMBEDDED, tmp_path, program["shed"]) as (store, _):
        club_id, now = uuid4(), datetime.now(UTC)
        times = {"created_at": now, "updated_at": now}
        for number in range(120):
            tool = program["Tool"](club_id=club_id, tool_id=uuid4(), owner_id=uuid4(), name=f"T{number}", **times)
            await store.put(tool, when=absent)
        work = await program["ToolsOfClubs"](store).end(program["Club"](club_id=club_id, name="Elm Street"))
        first = await work.step()
        assert (first.then, len(first.writes)) == (True, 50)
        await work.completed(store)
        assert await store.all(program["Tool"].of_club(club_id)) == []


def test_every_macro_of_the_components_is_in_the_reference():
    page = (FOLDER / "pages.md").read_text()
    named = set(re.findall(r"`(\w+(?:\.html)?)`", page))
    for path in COMPONENTS.iterdir():
        assert path.name in named
        assert set(re.findall(r"{% macro (\w+)", path.read_text())) - named == set(), path.name
