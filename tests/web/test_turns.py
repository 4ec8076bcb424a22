"""Callers of a serialized rule take turns within a process, through whichever address they call it."""

import asyncio
from typing import Any
from uuid import UUID

from potluck.web.access import Anyone
from potluck.web.actions import Actions
from potluck.web.app import App, Core
from potluck.web.writes import Writes
from tests.web.suites import API, app_with, suite_on

SHELF, OTHER = UUID(int=1), UUID(int=2)


class AtShelf(Anyone):
    shelf_id: UUID


class Watched:
    """How many are in the rule, and the most that ever were."""

    def __init__(self) -> None:
        self.inside: dict[UUID, int] = {}
        self.most: dict[UUID, int] = {}
        self.most_altogether = 0

    async def visit(self, shelf: UUID) -> None:
        self.inside[shelf] = self.inside.get(shelf, 0) + 1
        self.most[shelf] = max(self.most.get(shelf, 0), self.inside[shelf])
        self.most_altogether = max(self.most_altogether, sum(self.inside.values()))
        for _ in range(20):
            await asyncio.sleep(0)
        self.inside[shelf] -= 1


def attic_app(core: Core) -> App:
    watched = Watched()
    shelves: Actions[Any] = Actions(AtShelf, api="/attic/{shelf_id}", page="/attic/{shelf_id}", tag="Attic")

    @shelves.action("POST", "/put", serialized=True)
    async def put_there(at: AtShelf) -> Writes[None]:
        """Put something on the shelf."""
        await watched.visit(at.shelf_id)
        return Writes(None)

    shelves.form("/put", then="/attic")(put_there)
    return app_with("attic", subjects=[shelves], context=watched)(core)


async def test_callers_take_turns_at_one_thing_through_the_api_and_a_form(tmp_path):
    seen: list[Watched] = []

    def made(core: Core) -> App:
        app = attic_app(core)
        seen.append(app.context)
        return app

    async with suite_on(tmp_path, [made]) as (client, _):
        addresses = [f"{start}/attic/{shelf}/put" for start in ("", API) for shelf in (SHELF, OTHER)]
        calls = [client.post(each, headers={"sec-fetch-site": "same-origin"}) for each in addresses * 3]
        statuses = {answer.status_code for answer in await asyncio.gather(*calls)}
    (watched,) = seen
    assert statuses == {204, 303}
    assert watched.most == {SHELF: 1, OTHER: 1}
    assert watched.most_altogether == 2, "whoever is at another shelf does not wait"
