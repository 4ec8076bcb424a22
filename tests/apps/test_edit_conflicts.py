"""Every form that edits a thing, in every app: what only the other one changed is kept, what both changed is asked."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

import potluck
from potluck.suite import APPS
from tests.web.reading import BROWSER, fields_of
from tests.web.suites import ask, bearer, data, signed_up, suite_on

SOURCE = Path(potluck.__file__).parent
# Forms of a single button, which say one thing whatever else was changed, or are refused as a whole.
ONE_BUTTON = {"shopping/rows.html", "shopping/thing.html", "shopping/members.html", "shopping/list_page.html"}
ONE_BUTTON |= {"shopping/inventory.html", "journal/pieces.html", "places/settings.html"}


@dataclass
class Desk:
    """One person at two windows."""

    client: httpx.AsyncClient
    ada: dict[str, Any]

    async def make(self, path: str, **body: Any) -> dict[str, Any]:
        found: dict[str, Any] = data(await ask(self.client, "POST", path, body, by=self.ada), 201)
        return found

    async def page(self, path: str) -> str:
        answer = await self.client.get(path, headers=BROWSER | bearer(self.ada))
        assert answer.status_code == 200, answer.text
        return answer.text

    async def send(self, path: str, fields: dict[str, Any]) -> httpx.Response:
        return await self.client.post(path, data=fields, headers=BROWSER | bearer(self.ada))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with suite_on(tmp_path, APPS) as (client, _):
        yield Desk(client, await signed_up(client))


async def a_family(desk: Desk) -> tuple[str, str]:
    """Where its pages are, and where its API is."""
    family_id = (await desk.make("/families", name="Home"))["familyId"]
    return f"/shopping/{family_id}", f"/families/{family_id}"


async def a_listed_item(desk: Desk) -> tuple[str, str]:
    home, api = await a_family(desk)
    made = await desk.make(f"{api}/shopping-list", name="Milk", notes="Oat")
    path = f"{home}/list/{made['shoppingItemId']}"
    return path, path


async def an_inventory_item(desk: Desk) -> tuple[str, str]:
    home, api = await a_family(desk)
    made = await desk.make(f"{api}/inventory", name="Milk", quantity=1, threshold=0)
    path = f"{home}/inventory/{made['itemId']}"
    return path, path


async def a_store(desk: Desk) -> tuple[str, str]:
    home, api = await a_family(desk)
    made = await desk.make(f"{api}/stores", name="Market")
    path = f"{home}/stores/{made['storeId']}"
    return path, path


async def a_location(desk: Desk) -> tuple[str, str]:
    home, api = await a_family(desk)
    made = await desk.make(f"{api}/locations", name="Loft")
    path = f"{home}/locations/{made['locationId']}"
    return path, path


async def an_entry(desk: Desk) -> tuple[str, str]:
    metrics = {"durationMinutes": 60, "intensity": 5, "rounds": 3, "giOrNoGi": "gi", "tags": ["mount"]}
    made = await desk.make("/journal/entries", sections={"private": "Knee", "shared": "Armbar"}, sessionMetrics=metrics)
    path = f"/journal/entries/{made['entryId']}/edit"
    return path, path


async def a_poll(desk: Desk) -> tuple[str, str]:
    path = f"/polls/{(await desk.make('/polls', title='Where?', candidates=['Lake', 'Hut']))['id']}/edit"
    return path, path


async def a_library(desk: Desk) -> tuple[str, str]:
    path = f"/library/{(await desk.make('/libraries', libraryName='Study'))['libraryId']}/settings"
    return path, path


async def a_book(desk: Desk) -> tuple[str, str]:
    library = (await desk.make("/libraries", libraryName="Study"))["libraryId"]
    path = f"/library/{library}/items/{(await desk.make(f'/libraries/{library}/books', title='Emma'))['itemId']}/edit"
    return path, path


async def a_collection(desk: Desk) -> tuple[str, str]:
    library = (await desk.make("/libraries", libraryName="Study"))["libraryId"]
    path = f"/library/{library}/collections/"
    path += (await desk.make(f"/libraries/{library}/collections", name="Novels"))["collectionId"]
    return path, f"{path}/rename"


EDITED: list[tuple[Callable[..., Any], dict[str, str], dict[str, str]]] = [
    (a_listed_item, {"notes": "Soy"}, {"quantity": "3"}),
    (an_inventory_item, {"name": "Oat milk"}, {"threshold": "2"}),
    (a_store, {"name": "Corner shop"}, {"address": "High Street"}),
    (a_location, {"name": "Attic"}, {"description": "Upstairs"}),
    (an_entry, {"shared": "Armbar, twice", "newTags": "Open mat"}, {"private": "Knee, and shoulder", "rounds": "4"}),
    (a_poll, {"title": "Where to?"}, {"description": "For the club"}),
    (a_library, {"libraryName": "Den"}, {"description": "Downstairs"}),
    (a_book, {"title": "Emma, a novel"}, {"people": "Jane Austen"}),
    (a_collection, {"name": "Old novels"}, {"description": "Before 1900"}),
]


def as_shown(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in ("version", "base", "newTags", "entryId")}


@pytest.mark.parametrize(("thing", "mine", "theirs"), EDITED, ids=lambda each: getattr(each, "__name__", ""))
async def test_saving_after_a_conflict_keeps_both_changes(desk, thing, mine, theirs):
    page, action = await thing(desk)
    loaded = fields_of(await desk.page(page), action)
    assert (await desk.send(action, loaded | theirs)).status_code == 303
    asked = await desk.send(action, loaded | mine)
    assert asked.status_code == 409
    assert "fit together. Save to keep both." in asked.text
    saved = await desk.send(action, fields_of(asked.text, action))
    assert saved.status_code == 303, saved.text
    both = loaded | theirs | mine
    after = fields_of(await desk.page(page), action)
    assert as_shown(after) == as_shown(both | {"tags": ["", "mount", "Open mat"]} if "newTags" in mine else both)


@pytest.mark.parametrize(("thing", "mine", "theirs"), EDITED, ids=lambda each: getattr(each, "__name__", ""))
@pytest.mark.parametrize("side", ["mine", "theirs"])
async def test_what_both_changed_is_as_the_person_chose(desk, thing, mine, theirs, side):
    page, action = await thing(desk)
    loaded = fields_of(await desk.page(page), action)
    (name,) = list(mine)[:1]
    assert (await desk.send(action, loaded | {name: "Another one"})).status_code == 303
    asked = await desk.send(action, loaded | {name: mine[name]})
    assert "Which version do you want to keep?" in asked.text
    answer = fields_of(asked.text, action)
    assert f"keep:{name}" not in answer
    assert (await desk.send(action, answer | {f"keep:{name}": side})).status_code == 303
    assert fields_of(await desk.page(page), action)[name] == (mine[name] if side == "mine" else "Another one")


def test_every_form_that_edits_carries_what_it_was_loaded_with():
    for template in SOURCE.rglob("*.html"):
        name = "/".join(template.parts[-2:])
        own = re.findall(r'name="version"', template.read_text())
        assert not own or name in ONE_BUTTON | {"components/conflicts.html"}, f"{name}: begin the form with seen(...)"
