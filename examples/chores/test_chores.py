"""Chores, by its JSON API and by its pages. Members, roles and invitations are tested with the layer."""

from chores.app import ChoresApp
from tests.patience import until
from tests.stores import rows_in
from tests.web.suites import ask, bearer, data, problem, signed_up, suite_on


async def test_what_one_adds_the_other_checks_off_and_it_is_deleted_with_the_home(tmp_path):
    engines = []

    async def nothing_left():
        return not await rows_in(engines[0], "Chores")

    async with suite_on(tmp_path, [ChoresApp], wrap=lambda engine: engines.append(engine) or engine) as (client, _):
        ada, bo = [await signed_up(client, f"{name}@example.org", name) for name in ("Ada", "Bo")]
        home = data(await ask(client, "POST", "/homes", {"name": " Elm Street "}, by=ada), 201)
        at = f"/homes/{home['homeId']}"
        invitation = data(await ask(client, "POST", f"{at}/invitations", {"role": "member"}, by=ada), 201)
        data(await ask(client, "POST", "/invitations/accept", {"token": invitation["token"]}, by=bo))

        chore = data(await ask(client, "POST", f"{at}/chores", {"title": "Dishes", "minutes": 15}, by=ada), 201)
        one = f"{at}/chores/{chore['choreId']}"
        done = data(await ask(client, "PATCH", f"{one}/status", {"status": "done", "version": 1}, by=bo))
        assert (done["status"], done["doneBy"], done["version"]) == ("done", bo["userId"], 2)
        stale = await ask(client, "PATCH", one, {"title": "Pots", "version": 1}, by=ada)
        assert problem(stale, 409, "version-conflict")["current"]["status"] == "done"

        problem(await ask(client, "DELETE", one, by=bo), 403, "forbidden")
        data(await ask(client, "DELETE", at, by=ada), 204)
        await until(nothing_left)


async def test_a_page_shows_a_refused_form_again(tmp_path):
    async with suite_on(tmp_path, [ChoresApp]) as (client, _):
        ada = await signed_up(client)
        by = bearer(ada) | {"accept": "text/html"}
        home = (await client.post("/chores", data={"name": "Elm Street"}, headers=by)).headers["location"]
        added = await client.post(f"{home}/chores", data={"title": "Dishes"}, headers=by)
        assert (added.status_code, added.headers["location"]) == (303, home)
        assert "Dishes" in (await client.get(home, headers=by)).text
        assert "Invite someone" in (await client.get(f"{home}/settings", headers=by)).text
        refused = await client.post(f"{home}/chores", data={"title": "x" * 121}, headers=by)
        assert refused.status_code == 422
        assert "Say in 1 to 120 characters what has to be done" in refused.text
