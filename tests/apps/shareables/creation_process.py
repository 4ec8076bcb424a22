"""Lays out lists until it is killed, and says the id of each when it is told so: `python -m … FOLDER`."""

import asyncio
import sys
from pathlib import Path

from potluck.apps.shareables import short_ids
from potluck.apps.shareables.app import ShareablesApp
from potluck.apps.shareables.creation import NewShareable, create_shareable
from potluck.apps.shareables.items import NewChecklistItem
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import opened
from potluck.web.direct_calls import Direct
from tests.people.assembly import CountingHasher

AT_ONCE = 16
ITEMS = 3


async def main(folder: Path) -> None:
    # Nobody waits for anything else here.
    short_ids.REST_SECONDS = 0
    passwords = Passwords(CountingHasher())
    async with opened(Settings(data=folder), [ShareablesApp], passwords=passwords) as (core, (app,)):
        await app.context.pool.refill()
        direct = Direct(core, ShareablesApp.subjects, app.context)
        new = NewShareable(
            entity="checklist", name="A", items=[NewChecklistItem(name=str(each)) for each in range(ITEMS)]
        )
        print("ready", flush=True)

        async def lay_out() -> None:
            while True:
                print((await direct.do(create_shareable, None, new)).short_id, flush=True)

        await asyncio.gather(*(lay_out() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
