"""Live over HTTP: two phones at one list, and what happens to the stream of one who is put out."""

import asyncio

from potluck.web.live import Live
from tests.apps.shopping.calls import data, problem
from tests.patience import PATIENCE_SECONDS
from tests.web.contract.wire import listening
from tests.web.suites import API

LISTS = ("shopping-list", "inventory", "stores", "locations", "members")


def stream(home, of="shopping-list", query=""):
    return f"{API}/families/{home.family_id}/{of}/events{query}"


async def told(home, of, since, count, by=None):
    """So many changes of a list since the position, as soon as they are told: (event, item, position)."""
    found = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(found) < count:
            answer = data(await home.ask("GET", f"/{of}/changes?since={since}", by=by))
            assert not answer["reset"]
            found += [(each["event"], each["item"], each["position"]) for each in answer["changes"]]
            since = answer["position"]
            await asyncio.sleep(0)
    return found


async def settled(home, *people):
    """For each of them, a position after everything that has happened; that of a list may be a moment earlier."""
    positions = [(await home.listed(by=each))["position"] for each in people]
    last = await home.make("/shopping-list", name="The last so far")
    for place, by in enumerate(people):
        item = None
        while item != last:
            *_, (_, item, positions[place]) = await told(home, "shopping-list", positions[place], 1, by)
    return positions


def headers(person):
    return [("authorization", f"Bearer {person['token']}")]


async def test_two_phones_see_each_other_s_changes(home):
    ben = await home.joined()
    first = await home.make("/shopping-list", name="Tea")
    milk = await home.make("/inventory", name="Milk")
    position, own = await settled(home, home.admin, ben)
    async with (
        listening(home.calls.application, stream(home, query=f"?since={position}"), headers(home.admin)) as hers,
        listening(home.calls.application, stream(home, query=f"?since={own}"), headers(ben)) as his,
    ):
        added = await home.make("/shopping-list", itemId=milk["itemId"], by=ben)
        path = f"/shopping-list/{first['shoppingItemId']}"
        bought = data(await home.ask("PATCH", f"{path}/status", {"status": "purchased", "version": 1}))
        data(await home.ask("DELETE", path, by=ben), 204)
        data(await home.ask("DELETE", f"/inventory/{milk['itemId']}"), 204)
        loosened = added | {"itemId": None, "version": 2}
        for phone in (hers, his):
            events = [(each.event, each.data) for each in await phone.until(4)]
            # As the caller sees it when it is told: by then the inventory item may be gone.
            assert [(event, item["shoppingItemId"], item["version"]) for event, item in events] == [
                ("created", added["shoppingItemId"], 1),
                ("updated", first["shoppingItemId"], 2),
                ("deleted", first["shoppingItemId"], 2),
                ("updated", added["shoppingItemId"], 2),
            ]
            assert events[1][1] == bought
            assert events[3][1] == loosened
            assert events[0][1]["addedByName"] == "Ben"
    changes = await told(home, "shopping-list", position, 4)
    assert [event for event, _, _ in changes] == ["created", "updated", "deleted", "updated"]
    # From where one was, only what came after.
    rest = data(await home.ask("GET", f"/shopping-list/changes?since={changes[1][2]}"))
    assert [each["event"] for each in rest["changes"]] == ["deleted", "updated"]
    assert (rest["reset"], rest["more"]) == (False, False)
    assert data(await home.ask("GET", f"/shopping-list/changes?since={rest['position']}"))["changes"] == []


async def test_every_list_tells_its_own_changes_and_no_other_s(home):
    # One family, one partition: a position of one of its lists is one of all of them.
    (since,) = await settled(home, home.admin)
    assert all([data(await home.ask("GET", f"/{each}"))["position"] for each in LISTS])
    await home.joined()
    store, cellar = await home.make("/stores", name="Grocer"), await home.make("/locations", name="Cellar")
    milk = await home.make("/inventory", name="Milk", preferredStoreId=store["storeId"])
    tea = await home.make("/shopping-list", name="Tea", storeId=store["storeId"])
    other = await home.calls.home("Eve", "Byron")
    for path in ("/stores", "/locations", "/inventory", "/shopping-list"):
        await other.make(path, name="Theirs")

    made = {"shopping-list": tea, "inventory": milk, "stores": store, "locations": cellar, "members": None}
    await settled(home, home.admin)
    for each, item in made.items():
        event, found, _ = (await told(home, each, since, 1))[0]
        assert event == "created"
        assert found == item if item else found["name"] == "Ben"
        names = {found["name"] for _, found, _ in await told(home, each, since, 1)}
        assert names <= {"Tea", "Milk", "Grocer", "Cellar", "Ben", "The last so far"}


async def test_one_who_is_removed_is_out_on_the_next_request_and_their_stream_ends(home):
    calls = home.calls
    ben = await home.joined(role="admin")
    tea = await home.make("/shopping-list", name="Tea")
    position = (await home.listed(by=ben))["position"]
    async with listening(calls.application, stream(home), headers(ben)) as his:
        await his.until(begun=True)
        await home.make("/shopping-list", name="Salt")
        assert len(await his.until(1)) == 1
        data(await home.ask("DELETE", f"/members/{ben['userId']}"), 204)
        await home.make("/shopping-list", name="A secret")
        assert len(await his.until(ended=True)) == 1
    assert "A secret" not in his.body.decode()
    before = await calls.rows()
    item = f"/shopping-list/{tea['shoppingItemId']}"
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/members", None),
        ("GET", "/shopping-list", None),
        ("GET", item, None),
        ("GET", f"/shopping-list/changes?since={position}", None),
        ("GET", "/shopping-list/events", None),
        ("POST", "/shopping-list", {"name": "Late"}),
        ("PATCH", item, {"name": "Late", "version": 1}),
        ("PATCH", f"{item}/status", {"status": "purchased", "version": 1}),
        ("DELETE", item, None),
        ("POST", "/stores", {"name": "Late"}),
        ("POST", "/invitations", {"role": "admin"}),
        ("DELETE", f"/members/{home.admin['userId']}", None),
        ("DELETE", "", None),
    ):
        problem(await home.ask(method, path, body, by=ben), 404, "not-found")
    assert await calls.rows() == before
    # The token itself is good.
    assert data(await calls.ask("GET", "/families", by=ben))["items"] == []


async def test_one_who_was_removed_and_comes_again_is_not_told_what_happened_meanwhile(home):
    calls = home.calls
    ben = await home.joined()
    kept = {each: data(await home.ask("GET", f"/{each}", by=ben))["position"] for each in LISTS}
    hers = (await home.listed())["position"]
    data(await home.ask("DELETE", f"/members/{ben['userId']}"), 204)
    for path in ("/shopping-list", "/inventory", "/stores", "/locations"):
        made = await home.make(path, name="A secret")
        (made_id,) = (made[each] for each in ("shoppingItemId", "itemId", "storeId", "locationId") if made.get(each))
        data(await home.ask("DELETE", f"{path}/{made_id}"), 204)
    stays = await home.make("/shopping-list", name="Tea")
    invited = await home.make("/invitations", role="member")
    data(await calls.ask("POST", "/invitations/accept", {"token": invited["token"]}, by=ben))
    for each, since in kept.items():
        answer = data(await home.ask("GET", f"/{each}/changes?since={since}", by=ben))
        assert (answer["changes"], answer["reset"]) == ([], True), each
        assert not data(await home.ask("GET", f"/{each}/changes?since={answer['position']}", by=ben))["reset"]
        last = [*headers(ben), ("last-event-id", since)]
        async with listening(calls.application, stream(home, each), last) as his:
            assert [event.event for event in await his.until(1)] == ["reset"]
        assert b"A secret" not in his.body
    listed = await home.listed(by=ben)
    assert [item["shoppingItemId"] for item in listed["items"]] == [stays["shoppingItemId"]]
    salt = await home.make("/shopping-list", name="Salt")
    async with listening(calls.application, stream(home, query=f"?since={listed['position']}"), headers(ben)) as his:
        assert [(event.event, event.data) for event in await his.until(1)] == [("created", salt)]
    # A new role is no reason to begin anew, and Ada was there all the time.
    version = next(
        each["version"] for each in data(await home.ask("GET", "/members"))["items"] if each["name"] == "Ben"
    )
    data(await home.ask("PATCH", f"/members/{ben['userId']}", {"role": "admin", "version": version}))
    assert not data(await home.ask("GET", f"/shopping-list/changes?since={listed['position']}", by=ben))["reset"]
    assert not data(await home.ask("GET", f"/shopping-list/changes?since={hers}"))["reset"]


async def test_one_who_comes_is_not_told_what_was_before_by_the_position_of_another(home):
    hers = {each: data(await home.ask("GET", f"/{each}"))["position"] for each in LISTS}
    secret = await home.make("/shopping-list", name="A secret")
    data(await home.ask("DELETE", f"/shopping-list/{secret['shoppingItemId']}"), 204)
    ben = await home.joined()
    for each, since in hers.items():
        problem(await home.ask("GET", f"/{each}/changes?since={since}", by=ben), 422, "invalid-fields")
        problem(await home.ask("GET", f"/{each}/events?since={since}", by=ben), 422, "invalid-fields")
        last = [*headers(ben), ("last-event-id", since)]
        async with listening(home.calls.application, stream(home, each), last) as his:
            assert [event.event for event in await his.until(1)] == ["reset"]
        assert b"A secret" not in his.body


async def test_one_who_is_removed_just_as_they_ask_gets_no_place_to_go_on_from(home, monkeypatch):
    ben = await home.joined()
    position = (await home.listed(by=ben))["position"]
    known = Live.changes

    async def removed_first(live, *args, **how):
        data(await home.ask("DELETE", f"/members/{ben['userId']}"), 204)
        return await known(live, *args, **how)

    monkeypatch.setattr(Live, "changes", removed_first)
    problem(await home.ask("GET", f"/shopping-list/changes?since={position}", by=ben), 404, "not-found")


async def test_a_stream_ends_with_the_session_and_with_the_family(home):
    ben = await home.joined()
    async with listening(home.calls.application, stream(home), headers(ben)) as his:
        await his.until(begun=True)
        data(await home.calls.ask("DELETE", "/sessions/current", by=ben), 204)
        await home.make("/shopping-list", name="Tea")
        assert await his.until(ended=True) == []
    async with listening(home.calls.application, stream(home), headers(home.admin)) as hers:
        await hers.until(begun=True)
        data(await home.ask("DELETE"), 204)
        assert await hers.until(ended=True) == []


async def test_a_wrong_position_is_refused_and_so_is_one_of_another_family(home):
    other = await home.calls.home("Eve", "Byron")
    foreign = (await other.listed())["position"]
    for since in ("x", foreign):
        for path in ("changes", "events"):
            answer = await home.ask("GET", f"/shopping-list/{path}?since={since}")
            assert problem(answer, 422, "invalid-fields")["errors"][0]["field"] == "since"
    assert problem(await home.ask("GET", "/shopping-list/changes"), 422, "invalid-fields")


async def test_what_a_part_of_a_list_was_read_at_is_a_position_of_the_whole(home):
    await home.make("/shopping-list", name="Tea")
    for query in ("?storeId=unassigned", "?status=pending", "?limit=1"):
        position = (await home.listed(query))["position"]
        assert not data(await home.ask("GET", f"/shopping-list/changes?since={position}"))["reset"]
    await home.make("/inventory", name="Milk")
    for query in ("?lowStock=true", "?status=active"):
        position = data(await home.ask("GET", f"/inventory{query}"))["position"]
        assert not data(await home.ask("GET", f"/inventory/changes?since={position}"))["reset"]
