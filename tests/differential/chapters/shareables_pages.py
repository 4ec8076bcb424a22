"""Shareables by their pages: laid out, unlocked, ticked, voted in, managed, cloned, forgotten."""

import re

from tests.differential.chapters.sweep import sweep
from tests.differential.script import PASSWORD, Script, Who

__all__ = ["shareables_pages"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"
NOTHING = "zzz-zzz-99999"
VIEW, ADMIN = "lemonade", "trestle-table"
HOME = "/shareables"


async def shareables_pages(script: Script) -> None:
    maker, guest, nobody = (script.browser(name) for name in ("maker", "guest", "nobody"))
    await maker.page("home of a visitor", HOME)
    await maker.page("new", f"{HOME}/new")
    await maker.page("new poll", f"{HOME}/new?kind=poll")
    listed = {
        "entity": "checklist", "name": "Fair <b>", "note": "By Friday", "lines": "Table\n\n Bunting \nCake",
        "days": "7", "asks": "true", "viewPasscode": VIEW, "adminPasscode": ADMIN,
    }  # fmt: skip
    wrong = {
        "without a name": {"name": ""},
        "with a long line": {"lines": "n" * 201},
        "of no days": {"days": "0"},
        "until nothing": {"days": "until"},
        "until the past": {"days": "until", "until": "2039-12-01"},
        "of a cake": {"entity": "cake"},
        "with equal passcodes": {"adminPasscode": VIEW},
        "of too many": {"lines": "A\n" * 91},
    }
    for label, fields in wrong.items():
        await maker.form(f"make one {label}", HOME, listed | fields)
    card = await maker.submit("make", HOME, listed)
    here = card.location.removesuffix("/share")
    await maker.page("the card again", f"{here}/share")
    page = await maker.page("the list", here)
    await maker.call("the list with HEAD", "HEAD", here)
    await maker.page("the list in capitals", f"{HOME}/{here.rpartition('/')[2].upper()}")
    await nobody.page("a preview", here, user_agent="WhatsApp/2.23")
    await nobody.page("a preview of nothing", f"{HOME}/{NOTHING}", user_agent="facebookexternalhit/1.1")
    await nobody.page("what never was", f"{HOME}/{NOTHING}")
    table = page.find(rf'action="{here}/items/([0-9a-f-]+)/change"')
    await _opening(script, guest, here)
    await _items(maker, guest, here, table)
    await _settings(maker, guest, here)
    await _live(maker, here, table)
    await _poll(script, maker, guest)
    await _device(script, guest, here)

    ada = script.browser("Ada")
    await ada.form("Ada signs up", "/sign-up", {"name": "Ada", "email": "ada@example.org", "password": PASSWORD})
    mine = await ada.submit("make one's own", HOME, listed | {"asks": "", "days": "until", "until": "2040-01-20"})
    own = mine.location.removesuffix("/share")
    await ada.page("one's own", own)
    await ada.page("home with one's own", HOME)
    await ada.page("the suite's home", "/")
    page = await nobody.page("one that asks nobody", own)
    item = page.find(rf'action="{own}/items/([0-9a-f-]+)/change"')
    ids = {"short_id": here.rpartition("/")[2], "checklist_item_id": table}
    stranger = script.browser("stranger")
    outsiders = {"stranger": (stranger, stranger)}
    await sweep(script, (f"{HOME}/{{short_id}}", HOME), ids, outsiders, {}, without=(f"{HOME}/forget",))
    ids = {"short_id": own.rpartition("/")[2], "checklist_item_id": item}
    await sweep(script, (f"{HOME}/{{short_id}}",), ids, {"viewer": (nobody, nobody)}, {"maker": (ada, ada)})
    script.clock.forward(days=30)
    await guest.page("an expired list", here)
    await guest.form("unlock an expired list", f"{here}/unlock", {"passcode": "another view"})
    await guest.page("an expired list, unlocked", here)
    await maker.form("unlock an expired list as its maker", f"{here}/unlock", {"passcode": "another admin"})
    await maker.page("an expired list for its maker", here)
    await maker.page("clone an expired list", f"{here}/clone")
    clone = await maker.submit("clone it", f"{here}/clone", {"name": "Winter fair", "days": "1", "keepTicks": "true"})
    await maker.page("the clone", clone.location.removesuffix("/share"))
    await maker.form("clone it wrongly", f"{here}/clone", {"name": "n" * 201, "days": "x"})
    await maker.page("delete it?", f"{here}/delete")
    await maker.submit("delete it", f"{here}/delete")
    await maker.page("what is deleted", here)


async def _opening(script: Script, guest: Who, here: str) -> None:
    for label, typed in {
        "too short": "abc-def-123", "nothing": "", "too long": "x" * 2001, "what is not there": NOTHING,
        "letters": "abcdefghi12345",
    }.items():  # fmt: skip
        await guest.form(f"open {label}", f"{HOME}/open", {"id": typed})
    await guest.submit("open by a link", f"{HOME}/open", {"id": f"http://testserver{here.upper()}"})
    await guest.page("asked for a passcode", here)
    await guest.page("unlock page", f"{here}/unlock")
    await guest.form("unlock wrongly", f"{here}/unlock", {"passcode": "no"})
    await guest.form("unlock with nothing", f"{here}/unlock")
    await guest.submit("unlock", f"{here}/unlock", {"passcode": VIEW})
    await guest.page("manage page of a viewer", f"{here}/manage")
    await guest.form("manage by the view passcode", f"{here}/manage", {"passcode": VIEW})
    await guest.form("manage wrongly", f"{here}/manage", {"passcode": "no"})
    guesser = script.browser("guesser")
    for _ in range(6):
        await guesser.form("guess", f"{here}/unlock", {"passcode": "no"})
    another = script.browser("another admin")
    await another.submit("manage by the admin passcode", f"{here}/manage", {"passcode": ADMIN})
    await another.page("manage page of an admin", f"{here}/manage")
    await another.page("unlock page of an admin", f"{here}/unlock")


async def _items(maker: Who, guest: Who, here: str, table: str) -> None:
    items, there = f"{here}/items", f"{here}/items/{table}"
    await guest.submit("tick", f"{there}/change", {"done": "true"})
    await guest.form("tick nothing", f"{items}/{NEVER}/change", {"done": "true"})
    await guest.form("tick as a script", f"{there}/change", {"done": "false"}, hx_request="true")
    await guest.form("edit as a viewer", f"{there}/edit", {"name": "X", "version": "1"})
    await guest.form("delete as a viewer", f"{there}/delete")
    await guest.page("add page for a viewer", items)
    await maker.page("add page", items)
    await maker.submit("add", items, {"name": "Lemonade"})
    await maker.form("add without a name", items, {"name": " "})
    await maker.page("edit an item", f"{there}/edit")
    await maker.submit("edit it", f"{there}/edit", {"name": "Tables", "note": "Leo has them", "version": "3"})
    await maker.form("edit it by an old version", f"{there}/edit", {"name": "Flags", "note": "Old", "version": "1"})
    await maker.form("edit it wrongly", f"{there}/edit", {"name": "", "version": "4"})
    await maker.submit("move down", f"{there}/move", {"by": "1"})
    await maker.form("move far", f"{there}/move", {"by": "5"})
    await maker.form("order some", f"{items}/order", {"itemIds": table})
    page = await maker.page("the list to order", here)
    ids = list(dict.fromkeys(re.findall(rf'action="{here}/items/([0-9a-f-]{{36}})/change"', page.text)))
    await maker.submit("order", f"{items}/order", {"itemIds": [*reversed(ids)]})
    await maker.submit("delete an item", f"{items}/{ids[-1]}/delete")
    await maker.submit("restore it", f"{items}/restore", {"checklistItemId": ids[-1]})
    await maker.form("restore it again", f"{items}/restore", {"checklistItemId": ids[-1]})


async def _settings(maker: Who, guest: Who, here: str) -> None:
    await guest.page("settings for a viewer", f"{here}/edit")
    page = await maker.page("settings", f"{here}/edit")
    version = page.find(r'name="version" value="(\d+)"')
    changed = {"name": "Summer fair", "note": "", "viewersCanTick": "false", "version": version}
    await maker.form("too late an end", f"{here}/settings", changed | {"until": "2999-01-01"})
    await maker.form("no end", f"{here}/settings", changed | {"until": "someday"})
    await maker.submit("change the settings", f"{here}/settings", changed | {"until": "2040-01-25"})
    await maker.form("change them by an old version", f"{here}/settings", changed | {"name": "Old", "note": "Old"})
    await guest.page("the list for viewers who may not tick", here)
    await maker.page("passcodes", f"{here}/passcodes")
    await guest.page("passcodes for a viewer", f"{here}/passcodes")
    await maker.form("a short passcode", f"{here}/passcodes", {"view": "x"})
    await maker.form("equal passcodes", f"{here}/passcodes", {"view": "the same", "admin": "the same"})
    await maker.submit("generated passcodes", f"{here}/passcodes", {"made": "true"})
    await maker.submit("other passcodes", f"{here}/passcodes", {"view": "another view", "admin": "another admin"})
    await guest.page("locked out", here)
    await guest.page("locked out, unlock page", f"{here}/unlock")
    await guest.submit("unlock again", f"{here}/unlock", {"passcode": "another view"})
    await maker.page("clone page", f"{here}/clone")
    await guest.page("clone page for a viewer", f"{here}/clone")


async def _live(maker: Who, here: str, table: str) -> None:
    async with maker.listening("events", f"{here}/events") as stream:
        await stream.until(0)
        await maker.form("a change", f"{here}/items/{table}/change", {"done": "true"})
        await stream.until(2)


async def _poll(script: Script, maker: Who, guest: Who) -> None:
    asked = {"entity": "poll", "name": "Where to?", "lines": "Lake\nHut\nSea", "days": "30"}
    await maker.form("a poll of one", HOME, asked | {"lines": "Lake"})
    card = await maker.submit("a poll", HOME, asked)
    here = card.location.removesuffix("/share")
    await guest.page("results before a vote", f"{here}/results")
    # So that nothing is a tie: what a lot decides is different in every run.
    for rankings, times in ((["Lake", "Hut"], 5), (["Hut", "Lake"], 3), (["Sea", "Hut"], 1)):
        await maker.quietly(times, "POST", f"/api/v1{here}/votes", json={"rankings": rankings})
    ballot = await guest.page("ballot", here)
    number = ballot.find(r'name="ballot" value="([^"]+)"')
    await guest.form("vote for two at once", f"{here}/vote", {"rank-1": "1", "rank-2": "1", "ballot": number})
    await guest.form("vote for nobody", f"{here}/vote", {"ballot": number})
    await guest.submit("vote", f"{here}/vote", {"rank-1": "1", "rank-2": "2", "ballot": number})
    await guest.submit("vote again", f"{here}/vote", {"rank-3": "1", "ballot": number})
    await guest.page("ballot that was cast", here)
    await guest.form("change wrongly", f"{here}/vote/change", {"rank-1": "1", "rank-2": "1"})
    await guest.submit("change", f"{here}/vote/change", {"rank-1": "2", "rank-2": "1", "rank-3": "3"})
    for first in ("1", "1", "1", "2"):
        voter = script.browser("voter")
        await voter.page("ballot of a voter", here)
        await voter.form("vote of a voter", f"{here}/vote", {f"rank-{first}": "1"})
    async with guest.listening("events of a poll", f"{here}/events") as stream:
        await stream.until(0)
        late = script.browser("late voter")
        await late.page("ballot of a late voter", here)
        await late.form("vote of a late voter", f"{here}/vote", {"rank-1": "1", "rank-2": "2"})
        await stream.until(2)
    await guest.page("results", f"{here}/results")
    await guest.page("results by Schulze", f"{here}/results?method=schulze")
    await guest.page("a table", f"{here}/results.csv")
    await guest.page("ballots", f"{here}/ballots?format=blt")
    await guest.page("ballots in no format", f"{here}/ballots?format=pdf")
    await guest.submit("withdraw", f"{here}/vote/withdraw")
    await guest.submit("withdraw again", f"{here}/vote/withdraw")
    await guest.submit("change nothing", f"{here}/vote/change", {"rank-1": "1"})
    await maker.page("settings of a poll", f"{here}/edit")
    await maker.page("items of a poll", f"{here}/items")
    await maker.page("clone a poll", f"{here}/clone")


async def _device(script: Script, guest: Who, here: str) -> None:
    await guest.page("home with what was opened", HOME)
    await guest.submit("leave one", f"{here}/leave")
    await guest.form("leave what never was", f"{HOME}/{NOTHING}/leave")
    await guest.submit("unlock it anew", f"{here}/unlock", {"passcode": "another view"})
    await guest.form("sign up meanwhile", "/sign-up", {"name": "Bo", "email": "bo@example.org", "password": PASSWORD})
    await guest.page("home of who was not signed in", HOME)
    await guest.submit("adopt", f"{HOME}/adopt")
    await guest.form("forget when signed in", f"{HOME}/forget")
    await guest.form("sign out", "/sign-out")
    await guest.page("home after signing out", HOME)
    for path in ("adopt", "forget"):
        await guest.form(f"{path} from another site", f"{HOME}/{path}", sec_fetch_site="cross-site")
    await guest.submit("forget", f"{HOME}/forget")
    await guest.submit("unlock it once more", f"{here}/unlock", {"passcode": "another view"})
