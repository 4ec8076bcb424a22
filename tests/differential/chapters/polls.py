"""Polls by the API: made in every way, voted in, counted, opened and closed."""

from tests.differential.chapters.sweep import sweep
from tests.differential.script import Script

NEVER = "00000000-0000-4000-8000-ffffffffffff"
KEY = "00000000-0000-4000-8000-0000000003{:02}"
LAKE, HUT, CAMP = "Lake cabin", "Mountain hut", "Seaside camp"
# No two pairs are won alike: what a lot decides is another in every run.
UNTIED = ([LAKE, HUT], [LAKE, HUT], [LAKE, HUT], [LAKE, CAMP], [HUT, LAKE], [HUT, LAKE], [CAMP, HUT])
METHODS = ("irv", "stv", "scottish-stv", "schulze", "ranked-pairs", "borda", "plurality")


async def polls(script: Script) -> None:
    ada, eve = await script.person("Ada"), await script.person("Eve")
    anyone = script.program("anyone")
    basic = {"title": " Where to? ", "candidates": [LAKE, HUT, CAMP]}
    made = await anyone.api("make a poll", "POST", "/polls", basic, idempotency_key=KEY.format(1))
    await anyone.api("make a poll once more", "POST", "/polls", basic, idempotency_key=KEY.format(1))
    await anyone.api(
        "make another by the same key", "POST", "/polls", basic | {"title": "X"}, idempotency_key=KEY.format(1)
    )
    await anyone.api("make a poll of nothing", "POST", "/polls", {})
    await anyone.api(
        "make a wrong poll",
        "POST",
        "/polls",
        {
            "title": " ", "candidates": [LAKE], "description": "d" * 2001, "expiresAt": "soon", "voterPolicy": "none",
            "resultsVisibility": "never", "maxRankings": 0, "method": "dice", "seats": 0,
        },
    )  # fmt: skip
    await anyone.api("make a poll of twins", "POST", "/polls", {"title": "X", "candidates": [LAKE, " lake  CABIN "]})
    await anyone.api("make a poll of the past", "POST", "/polls", basic | {"expiresAt": "2039-01-01T00:00:00Z"})
    await anyone.api("make a poll of no zone", "POST", "/polls", basic | {"expiresAt": "2041-01-01T00:00:00"})
    await anyone.api("make a poll of many seats", "POST", "/polls", basic | {"method": "stv", "seats": 4})
    await anyone.api("make a poll of seats for one", "POST", "/polls", basic | {"method": "irv", "seats": 2})
    await anyone.api("make a poll of no rankings", "POST", "/polls", basic | {"maxRankings": 101})
    await anyone.api(
        "make a poll of unknown words", "POST", "/polls", basic | {"candidateDescriptions": {"Moon": "Far"}}
    )
    poll = f"/polls/{made['id']}"
    admin = {"x_admin_key": made["adminKey"]}
    await anyone.api("a poll", "GET", poll)
    await anyone.api("a poll with HEAD", "HEAD", poll)
    await anyone.api("a poll that never was", "GET", f"/polls/{NEVER}")
    await anyone.api("a poll of a malformed id", "GET", "/polls/where")
    await anyone.api("change a poll", "PATCH", poll, {"description": "By vote", "version": 1}, **admin)
    await anyone.api("change a poll by an old version", "PATCH", poll, {"title": "Y", "version": 1}, **admin)
    await anyone.api("change a poll by an old If-Match", "PATCH", poll, {"title": "Y"}, if_match='"1"', **admin)
    await anyone.api("change a poll by no version", "PATCH", poll, {"title": "Y"}, **admin)
    await anyone.api("change a poll without the key", "PATCH", poll, {"title": "Y", "version": 2})
    await anyone.api("change a poll by a made-up key", "PATCH", poll, {"title": "Y", "version": 2}, x_admin_key="pla_1")
    await anyone.api("change a poll wrongly", "PATCH", poll, {"title": None, "candidates": [], "version": 2}, **admin)
    await anyone.api("change a poll that never was", "PATCH", f"/polls/{NEVER}", {"title": "Y", "version": 1}, **admin)

    await anyone.api("results before a vote", "GET", f"{poll}/results")
    votes = f"{poll}/votes"
    first = await anyone.api("vote", "POST", votes, {"rankings": [LAKE, HUT]}, idempotency_key=KEY.format(2))
    await anyone.api("vote once more", "POST", votes, {"rankings": [LAKE, HUT]}, idempotency_key=KEY.format(2))
    await anyone.api("vote by a key", "POST", votes, {"rankings": [LAKE, CAMP], "voterKey": "browser 1"})
    await anyone.api("vote by a key again", "POST", votes, {"rankings": [CAMP], "voterKey": "browser 1"})
    await anyone.api("vote for nobody", "POST", votes, {"rankings": []})
    await anyone.api("vote for a stranger", "POST", votes, {"rankings": ["Moon"]})
    await anyone.api("vote for one twice", "POST", votes, {"rankings": [LAKE, LAKE]})
    await anyone.api("vote in other letters", "POST", votes, {"rankings": ["mountain HUT"], "voterKey": "browser 2"})
    await anyone.api("vote without rankings", "POST", votes, {})
    await anyone.api("vote with a code where none is", "POST", votes, {"rankings": [LAKE], "code": "7K3M-Q9TX-V2HD"})
    await anyone.api("vote in what never was", "POST", f"/polls/{NEVER}/votes", {"rankings": [LAKE]})
    own = f"{votes}/{first['id']}"
    edit = {"x_edit_key": first["editKey"]}
    await anyone.api("change a vote", "PUT", own, {"rankings": [HUT, LAKE]}, **edit)
    await anyone.api("change a vote to what it is", "PUT", own, {"rankings": [HUT, LAKE]}, **edit)
    await anyone.api("change a vote without the key", "PUT", own, {"rankings": [CAMP]})
    await anyone.api("change a vote by another key", "PUT", own, {"rankings": [CAMP]}, x_edit_key="ple_1")
    await anyone.api("change a vote wrongly", "PUT", own, {"rankings": ["Moon"]}, **edit)
    await anyone.api("change a vote that never was", "PUT", f"{votes}/{NEVER}", {"rankings": [CAMP]}, **edit)
    await anyone.api("change a poll that has votes", "PATCH", poll, {"title": "Late", "version": 2}, **admin)
    for number in range(3):
        await anyone.api("more votes", "POST", votes, {"rankings": [LAKE, CAMP, HUT], "voterKey": f"more {number}"})
    await anyone.api("votes for another", "POST", votes, {"rankings": [HUT, CAMP], "voterKey": "other"})
    await anyone.api("one vote more", "POST", votes, {"rankings": [LAKE, HUT], "voterKey": "one more"})
    # Enough that no method has a tie: what a lot decides is another in every run.
    await anyone.quietly(3, "POST", f"/api/v1{votes}", json={"rankings": [LAKE, HUT]})
    await anyone.api("withdraw a vote without the key", "DELETE", own)
    await anyone.api("withdraw a vote", "DELETE", own, idempotency_key=KEY.format(3), **edit)
    await anyone.api("withdraw a vote once more", "DELETE", own, idempotency_key=KEY.format(3), **edit)
    await anyone.api("withdraw a vote that is gone", "DELETE", own, **edit)

    found = await anyone.api("results", "GET", f"{poll}/results")
    await anyone.api("results unchanged", "GET", f"{poll}/results", if_none_match=found.etag)
    for method in METHODS:
        await anyone.api(f"results by {method}", "GET", f"{poll}/results?method={method}")
    await anyone.api("results by dice", "GET", f"{poll}/results?method=dice")
    await anyone.api("results of what never was", "GET", f"/polls/{NEVER}/results")
    await anyone.api("results as a table", "GET", f"{poll}/results.csv")
    await anyone.api("results as a table by dice", "GET", f"{poll}/results.csv?method=dice")
    await anyone.api("audit", "GET", f"{poll}/audit", **admin)
    await anyone.api("audit without the key", "GET", f"{poll}/audit")
    await anyone.api("ballots", "GET", f"{poll}/ballots?format=blt", **admin)
    await anyone.api("ballots as a table", "GET", f"{poll}/ballots?format=csv")
    await anyone.api("ballots in no format", "GET", f"{poll}/ballots?format=pdf")
    await anyone.api("ballots of what never was", "GET", f"/polls/{NEVER}/ballots")

    position = (await anyone.api("where changes go on from", "GET", f"{poll}/changes"))["position"]
    async with anyone.listening("events", f"/api/v1{poll}/events") as stream:
        await stream.until(0)
        late = await anyone.api("a vote while somebody looks", "POST", votes, {"rankings": [LAKE], "voterKey": "live"})
        await stream.until(1)
    await anyone.api("changes since a bad place", "GET", f"{poll}/changes?since=bad")
    await anyone.api("changes since nothing", "GET", f"{poll}/changes")
    await anyone.api("changes", "GET", f"{poll}/changes?since={position}")
    await anyone.api("changes of what never was", "GET", f"/polls/{NEVER}/changes?since={position}")
    await anyone.api("events of what never was", "GET", f"/polls/{NEVER}/events")
    await anyone.api("events since a bad place", "GET", f"{poll}/events?since=bad")

    await anyone.api("close without the key", "POST", f"{poll}/close")
    await anyone.api("close", "POST", f"{poll}/close", **admin)
    await anyone.api("close again", "POST", f"{poll}/close", **admin)
    await anyone.api("vote in what is closed", "POST", votes, {"rankings": [LAKE]})
    closed = {"x_edit_key": late["editKey"]}
    await anyone.api("change a vote in what is closed", "PUT", f"{votes}/{late['id']}", {"rankings": [HUT]}, **closed)
    await anyone.api("withdraw from what is closed", "DELETE", f"{votes}/{late['id']}", **closed)
    await anyone.api("results that are final", "GET", f"{poll}/results")
    await anyone.api("reopen without the key", "POST", f"{poll}/reopen", {})
    await anyone.api("reopen until the past", "POST", f"{poll}/reopen", {"expiresAt": "2039-01-01T00:00:00Z"}, **admin)
    await anyone.api("reopen", "POST", f"{poll}/reopen", {"expiresAt": "2041-01-01T00:00:00+01:00"}, **admin)
    await anyone.api("reopen what is open", "POST", f"{poll}/reopen", **admin)
    await anyone.api("duplicate without the key", "POST", f"{poll}/duplicate")
    copy = await anyone.api("duplicate", "POST", f"{poll}/duplicate", idempotency_key=KEY.format(4), **admin)
    await anyone.api("duplicate once more", "POST", f"{poll}/duplicate", idempotency_key=KEY.format(4), **admin)

    for visibility in ("always", "afterVote", "afterClose", "admin"):
        asked = basic | {"resultsVisibility": visibility, "title": visibility}
        hidden = await anyone.api(f"make a poll shown {visibility}", "POST", "/polls", asked)
        there = f"/polls/{hidden['id']}"
        cast = await anyone.api(f"vote in one shown {visibility}", "POST", f"{there}/votes", {"rankings": [HUT]})
        key = {"x_admin_key": hidden["adminKey"]}
        await anyone.api(f"results shown {visibility}", "GET", f"{there}/results")
        await anyone.api(
            f"results shown {visibility} to a voter", "GET", f"{there}/results", x_edit_key=cast["editKey"]
        )
        await anyone.api(f"results shown {visibility} to whoever made it", "GET", f"{there}/results", **key)
        await anyone.api(f"ballots shown {visibility}", "GET", f"{there}/ballots?format=json")
        if visibility != "always":
            await anyone.api(f"table shown {visibility}", "GET", f"{there}/results.csv")
            await anyone.api(f"changes shown {visibility}", "GET", f"{there}/changes?since={position}")
            await anyone.api(f"events shown {visibility}", "GET", f"{there}/events")
        await anyone.api(f"close one shown {visibility}", "POST", f"{there}/close", **key)
        await anyone.api(f"results shown {visibility} at the end", "GET", f"{there}/results")

    for method in METHODS:
        seats = 2 if "stv" in method else 1
        asked = basic | {"method": method, "seats": seats, "title": method, "maxRankings": 2}
        counted = await anyone.api(f"make a poll by {method}", "POST", "/polls", asked)
        there = f"/polls/{counted['id']}"
        for rankings in UNTIED:
            await anyone.quietly(1, "POST", f"/api/v1{there}/votes", json={"rankings": rankings})
        await anyone.api(f"vote for too many by {method}", "POST", f"{there}/votes", {"rankings": [LAKE, HUT, CAMP]})
        await anyone.api(f"results of a poll by {method}", "GET", f"{there}/results")
        await anyone.api(f"table of a poll by {method}", "GET", f"{there}/results.csv")

    coded = await anyone.api("make a poll of codes", "POST", "/polls", basic | {"voterPolicy": "codes"})
    there, key = f"/polls/{coded['id']}", {"x_admin_key": coded["adminKey"]}
    codes = await anyone.api("make codes", "POST", f"{there}/codes", {"count": 2}, idempotency_key=KEY.format(5), **key)
    await anyone.api(
        "make codes once more", "POST", f"{there}/codes", {"count": 2}, idempotency_key=KEY.format(5), **key
    )
    await anyone.api("make too many codes", "POST", f"{there}/codes", {"count": 1001}, **key)
    await anyone.api("make codes without the key", "POST", f"{there}/codes", {"count": 2})
    await anyone.api("make codes where none are", "POST", f"{poll}/codes", {"count": 2}, **admin)
    await anyone.api("vote without a code", "POST", f"{there}/votes", {"rankings": [LAKE]})
    await anyone.api("vote by a made-up code", "POST", f"{there}/votes", {"rankings": [LAKE], "code": "AAAA-BBBB-CCCC"})
    code = str(codes["codes.0"])
    await anyone.api("vote by a code", "POST", f"{there}/votes", {"rankings": [LAKE], "code": code})
    await anyone.api("vote by it again", "POST", f"{there}/votes", {"rankings": [LAKE], "code": code})

    personal = await ada.api("make a poll for accounts", "POST", "/polls", basic | {"voterPolicy": "accounts"})
    there = f"/polls/{personal['id']}"
    await anyone.api("vote as nobody", "POST", f"{there}/votes", {"rankings": [LAKE]})
    await eve.api("vote as somebody", "POST", f"{there}/votes", {"rankings": [LAKE]})
    await eve.api("vote as somebody again", "POST", f"{there}/votes", {"rankings": [HUT]})
    await ada.api("one's polls", "GET", "/polls")
    await ada.api("one's polls in no parts", "GET", "/polls?limit=0")
    await eve.api("another's polls", "GET", "/polls")
    await anyone.api("polls of nobody", "GET", "/polls")
    await eve.api("close another's poll", "POST", f"{there}/close")
    await ada.api("close one's poll without a key", "POST", f"{there}/close")

    tried = await ada.api("make a poll to try", "POST", "/polls", basic)
    vote = await anyone.api("vote in it, to try", "POST", f"/polls/{tried['id']}/votes", {"rankings": [LAKE]})
    ids = {"poll_id": tried["id"], "vote_id": vote["id"]}
    outsiders = {"anyone": (anyone, anyone), "stranger": (eve, eve)}
    await sweep(script, ("/api/v1/polls",), ids, outsiders, {"maker": (ada, ada)})

    brief = await anyone.api("make a poll for a day", "POST", "/polls", basic | {"expiresAt": "2040-01-02T12:00:00Z"})
    script.clock.forward(days=2)
    await anyone.api("a poll whose time is over", "GET", f"/polls/{brief['id']}")
    await anyone.api("vote in it", "POST", f"/polls/{brief['id']}/votes", {"rankings": [LAKE]})
    await anyone.api("delete without the key", "DELETE", poll)
    await anyone.api("delete by an old version", "DELETE", poll, if_match='"1"', **admin)
    await anyone.api("delete", "DELETE", poll, idempotency_key=KEY.format(6), **admin)
    await anyone.api("delete once more", "DELETE", poll, idempotency_key=KEY.format(6), **admin)
    await anyone.api("delete what is gone", "DELETE", poll, **admin)
    await anyone.api("a poll that is gone", "GET", poll)
    await anyone.api("vote in what is gone", "POST", votes, {"rankings": [LAKE]})
    await anyone.api("its copy", "GET", f"/polls/{copy['id']}")


async def polls_pages(script: Script) -> None:
    here, there, ada = script.browser("somebody"), script.browser("somebody else"), script.browser("Ada")
    lines = f"{LAKE} | By the water\n{HUT}\n\n{CAMP}"
    await here.page("polls of a visitor", "/polls")
    await here.page("new", "/polls/new")
    await here.submit("make a wrong one", "/polls", {"title": "", "candidates": LAKE, "seats": "0", "maxRankings": "x"})
    await here.submit(
        "make one of twins", "/polls", {"title": "X <b>", "candidates": f"{LAKE}\n{LAKE}", "expires": "whenever"}
    )
    made = await here.submit("make", "/polls", {"title": "Where <b>to?", "description": "Say", "candidates": lines})
    poll = made.location.removesuffix("/share")
    key = made.find(r"(pla_[0-9a-f]{64})")
    await here.page("share", f"{poll}/share")
    await here.page("share again", f"{poll}/share")
    await there.page("share for another", f"{poll}/share")
    await here.page("manage", f"{poll}/manage")
    await there.page("manage for another", f"{poll}/manage")
    await there.submit("manage by a made-up key", f"{poll}/manage", {"key": "pla_" + "0" * 64})
    for verb in ("close", "reopen", "duplicate", "delete", "codes", "recount", "edit"):
        await there.submit(
            f"{verb} by another", f"{poll}/{verb}", {"title": "X", "candidates": "A\nB", "version": "1", "count": "1"}
        )
    for name in ("edit", "delete"):
        await there.page(f"{name} for another", f"{poll}/{name}")
        await here.page(name, f"{poll}/{name}")
    edited = {
        "title": "Where to?",
        "candidates": lines,
        "version": "1",
        "voterPolicy": "open",
        "resultsVisibility": "always",
    }
    await here.submit("edit wrongly", f"{poll}/edit", edited | {"title": ""})
    await here.submit("edit", f"{poll}/edit", edited)
    await here.submit("edit by an old version", f"{poll}/edit", edited | {"title": "Old"})
    await here.page("results without votes", f"{poll}/results")
    ballot = await here.page("ballot", poll)
    await here.call("ballot with HEAD", "HEAD", poll)
    number = ballot.find(r'name="ballot" value="([^"]+)"')
    await here.submit("vote for two at once", f"{poll}/vote", {"rank-1": "1", "rank-2": "1", "ballot": number})
    await here.submit("vote in words", f"{poll}/vote", {"rank-1": "first", "ballot": number})
    await here.submit("vote for nobody", f"{poll}/vote", {"ballot": number})
    await here.submit("vote on an older ballot", f"{poll}/vote", {"rank-1": "1", "ballot": "0" * 16})
    thanks = await here.submit("vote", f"{poll}/vote", {"rank-1": "1", "rank-2": "2", "ballot": number})
    edit_key = thanks.find(r"(ple_[0-9a-f]{96})")
    await here.page("thanks again", f"{poll}/thanks")
    await there.page("thanks for nothing", f"{poll}/thanks")
    await here.submit("vote again", f"{poll}/vote", {"rank-3": "1", "ballot": number})
    await here.page("ballot that was cast", poll)
    await here.submit("change a vote wrongly", f"{poll}/vote/change", {"rank-1": "1", "rank-2": "1"})
    await here.submit("change a vote", f"{poll}/vote/change", {"rank-1": "2", "rank-2": "1", "rank-3": "3"})
    await there.submit("change no vote", f"{poll}/vote/change", {"rank-1": "1"})
    await there.page("mine", f"{poll}/mine")
    await there.submit("mine by a made-up key", f"{poll}/mine", {"key": "ple_1"})
    await there.submit("mine by the key", f"{poll}/mine", {"key": edit_key})
    await there.page("ballot that is mine", poll)
    for number in range(3):
        voter = script.browser(f"voter {number}")
        await voter.page("ballot of a voter", poll)
        await voter.submit("vote of a voter", f"{poll}/vote", {"rank-1": "1", f"rank-{2 + number % 2}": "2"})
    last = script.browser("the last voter")
    await last.page("ballot of the last voter", poll)
    await last.submit("vote of the last voter", f"{poll}/vote", {"rank-2": "1"})
    await here.page("results", f"{poll}/results")
    await here.page("results by Schulze", f"{poll}/results?method=schulze")
    await here.page("results by dice", f"{poll}/results?method=dice")
    await here.page("results of the first round", f"{poll}/results?round=1&whole=1")
    await here.page("a piece of the results", f"{poll}/results", hx_request="true")
    await here.page("results as a table", f"{poll}/results.csv")
    await here.page("ballots", f"{poll}/ballots?format=blt")
    await here.page("ballots in no format", f"{poll}/ballots?format=pdf")
    async with here.listening("events of results", f"{poll}/results/events") as stream:
        await stream.until(0)
        late = script.browser("a late voter")
        await late.page("ballot of a late voter", poll)
        await late.submit("vote of a late voter", f"{poll}/vote", {"rank-1": "1"})
        await stream.until(1)
    await here.page("edit what has votes", f"{poll}/edit")
    await here.submit("edit what has votes all the same", f"{poll}/edit", edited | {"version": "2", "title": "Late"})
    await here.submit("recount", f"{poll}/recount")
    await here.submit("withdraw", f"{poll}/vote/withdraw")
    await here.submit("withdraw again", f"{poll}/vote/withdraw")
    await here.submit("close", f"{poll}/close")
    await here.page("managed when closed", f"{poll}/manage")
    await late.page("ballot when closed", poll)
    await late.submit("vote when closed", f"{poll}/vote", {"rank-1": "1"})
    await late.submit("withdraw when closed", f"{poll}/vote/withdraw")
    await here.page("results at the end", f"{poll}/results")
    await here.submit("reopen until whenever", f"{poll}/reopen", {"expires": "whenever"})
    await here.submit("reopen until the past", f"{poll}/reopen", {"expires": "2039-12-31T10:00"})
    await here.submit(
        "reopen", f"{poll}/reopen", {"expires": "2040-02-01T10:00", "expiresAt": "2040-02-01T09:00:00.000Z"}
    )
    await here.page("managed when open again", f"{poll}/manage")
    await here.submit("codes where none are", f"{poll}/codes", {"count": "2"})
    await there.submit("manage by the key", f"{poll}/manage", {"key": key})
    await there.page("managed by another", f"{poll}/manage")
    copy = await here.submit("duplicate", f"{poll}/duplicate")
    await here.page("share the copy", copy.location)
    await here.submit("delete", f"{poll}/delete")
    await here.page("a poll that is gone", poll)
    await here.page("results that are gone", f"{poll}/results")
    await here.page("a poll of a malformed id", "/polls/where")

    coded = await here.submit(
        "make one of codes", "/polls", {"title": "Codes", "candidates": lines, "voterPolicy": "codes"}
    )
    poll = coded.location.removesuffix("/share")
    await here.submit("too many codes", f"{poll}/codes", {"count": "1001"})
    codes = await here.submit("codes", f"{poll}/codes", {"count": "2"})
    code = codes.find(r"<code>([0-9A-Z-]{14})</code>")
    await there.page("ballot with a code", poll)
    await there.submit("vote without a code", f"{poll}/vote", {"rank-1": "1"})
    await there.submit("vote by a made-up code", f"{poll}/vote", {"rank-1": "1", "code": "AAAA-BBBB-CCCC"})
    await there.submit("vote by a code", f"{poll}/vote", {"rank-1": "1", "code": code})
    await late.submit("vote by a used code", f"{poll}/vote", {"rank-1": "1", "code": code})

    hidden = {
        "title": "Hidden",
        "candidates": f"{LAKE}\n{HUT}",
        "resultsVisibility": "admin",
        "voterPolicy": "accounts",
        "maxRankings": "1",
    }
    await ada.form("Ada signs up", "/sign-up", {"name": "Ada", "email": "ada@example.org", "password": "correct horse"})
    await ada.page("no polls", "/polls")
    made = await ada.submit("make one for accounts", "/polls", hidden)
    poll = made.location.removesuffix("/share")
    await ada.page("share one's own", f"{poll}/share")
    await ada.page("one's polls", "/polls")
    await ada.page("home with a poll", "/")
    await ada.page("manage one's own", f"{poll}/manage")
    await there.page("ballot for nobody", poll)
    await there.submit("vote as nobody", f"{poll}/vote", {"rank-1": "1"})
    await there.page("results that are hidden", f"{poll}/results")
    await there.page("table that is hidden", f"{poll}/results.csv")
    await there.page("events that are hidden", f"{poll}/results/events")
    await ada.page("ballot for somebody", poll)
    await ada.submit("vote for too many", f"{poll}/vote", {"rank-1": "1", "rank-2": "2", "rank-3": "3"})
    await ada.submit("vote as somebody", f"{poll}/vote", {"rank-1": "1"})
    await ada.page("results for whoever made it", f"{poll}/results")
    stv = {"title": "Two seats", "candidates": lines, "seats": "2", "method": "stv", "expires": "2040-03-01T10:00"}
    made = await ada.submit("make one of two seats", "/polls", stv)
    await ada.page("edit one of two seats", made.location.replace("/share", "/edit"))
    await ada.page("ballot of two seats", made.location.removesuffix("/share"))
    poll = made.location.removesuffix("/share")
    stranger = script.browser("stranger")
    ids = {"poll_id": poll.rpartition("/")[2]}
    await sweep(script, ("/polls",), ids, {"stranger": (stranger, stranger)}, {"maker": (ada, ada)})
