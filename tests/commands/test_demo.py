import re
from dataclasses import replace
from datetime import timedelta

import pytest

from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.shopping.entities import inventory
from potluck.commands import demo
from potluck.commands.demo import AlreadyHere, filled
from potluck.commands.main import main
from potluck.people.entities import accounts
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.style import ROUNDS
from tests.people.assembly import Clock, CountingHasher
from tests.web.reading import BROWSER
from tests.web.suites import API, app_with, bearer, client_at, rows_of

SIGN_IN = re.compile(r"^  (\S.*?) +(\S+@potluck\.example) +((?:[0-9a-z]{4}-){3}[0-9a-z]{4})$", re.M)


def cheap():
    return Passwords(CountingHasher())


async def filled_here(folder, **options):
    return await filled(Settings(data=folder), lambda _: None, passwords=cheap(), **options)


async def signed_in(client, sign_in):
    answer = await client.post(f"{API}/sessions", json={"email": sign_in.email, "password": sign_in.password})
    assert answer.status_code == 201, answer.text
    return bearer(answer.json())


async def test_a_demo_is_there_for_who_signs_in_as_one_of_its_people(tmp_path):
    settings = Settings(data=tmp_path)
    # It is filled while the suite runs on the same file.
    async with assembled(settings, passwords=cheap()) as application, client_at(application) as client:
        made = await filled_here(tmp_path)
        mara, leo, noor, renzo, ida = [await signed_in(client, each) for each in made.sign_ins]

        async def got(path, by, **asked):
            answer = await client.get(API + path, headers=by, params=asked)
            assert answer.status_code == 200, answer.text
            return answer.json()

        async def families_of(by):
            return {each["name"]: each for each in (await got("/families", by))["items"]}

        homes = await families_of(mara)
        assert {name: each["role"] for name, each in homes.items()} == {
            "Lund Street 7": "admin",
            "Mat club kitchen": "member",
        }
        assert (await families_of(leo))["Lund Street 7"]["role"] == "admin"
        assert (await families_of(noor))["Lund Street 7"]["role"] == "member"
        assert list(await families_of(renzo)) == list(await families_of(ida)) == ["Mat club kitchen"]

        home = f"/families/{homes['Lund Street 7']['familyId']}"
        listed = (await got(f"{home}/shopping-list", mara, limit=100))["items"]
        assert {(each["addedByName"].split()[0], each["status"]) for each in listed} == {
            (name, status) for name in ("Mara", "Leo", "Noor") for status in ("pending", "purchased")
        }
        low = (await got(f"{home}/inventory", mara, lowStock="true", limit=100))["items"]
        assert 3 <= len(low) < len((await got(f"{home}/inventory", mara, limit=100))["items"])
        assert [each["role"] for each in (await got(f"{home}/invitations", mara))["items"]] == ["member"]

        polls = {each["title"]: each for each in (await got("/polls", mara))["items"]}
        assert sorted(each["status"] for each in polls.values()) == ["closed", "open"]
        june = polls["Where does the club go in June?"]
        results = await got(f"/polls/{june['id']}/results", {})
        assert results["votes"] == 41
        tallies = [{name: int(votes) for name, votes in each["tallies"].items()} for each in results["rounds"]]
        assert tallies == list(ROUNDS), "counted as the page of the look draws it"
        (board,) = (await got("/polls", renzo))["items"]
        assert (board["voterPolicy"], board["status"]) == ("codes", "open")

        # What it sends people to is there, and one of the codes that are left is good for a vote.
        said = "\n".join(made.lines("http://testserver"))
        for each in made.worth_a_look:
            assert f"http://testserver{each.address}\n" in said
            assert (await client.get(each.address, headers=BROWSER | mara)).status_code == 200, each
        code = re.search(r"\w{4}-\w{4}-\w{4}(?=, )", said)[0]
        vote = {"rankings": board["candidates"][:1], "code": code}
        assert (await client.post(f"{API}/polls/{board['id']}/votes", json=vote)).status_code == 201
        invitation = re.search(r"/invitation#(\S+)", said)[1]
        joined = await client.post(f"{API}/invitations/accept", json={"token": invitation}, headers=ida)
        assert joined.status_code == 200, joined.text
        assert "Lund Street 7" in await families_of(ida)

        year = await got("/journal/stats", mara)
        assert year["total"]["sessions"] > 80
        assert year["timeZone"] == "Europe/Lisbon"
        athletes = {each["name"]: each for each in (await got("/journal/athletes", renzo))["items"]}
        assert athletes.keys() == {"Mara Okafor", "Leo Lindqvist", "Ida Berg"}
        assert athletes["Mara Okafor"]["lastSession"]["shared"]
        (thread,) = (await got("/journal/ai/threads", mara))["items"]
        said = (await got(f"/journal/ai/threads/{thread['threadId']}/messages", mara))["items"]
        assert [bool(each["citations"]) for each in said] == [False, True, False, True]

        for path in ("/", "/shopping", "/polls", "/journal", "/journal/stats?span=52w"):
            page = await client.get(path, headers=BROWSER | mara, follow_redirects=True)
            assert page.status_code == 200, path


async def test_a_second_demo_is_refused_and_changes_nothing(tmp_path):
    # As one that was interrupted leaves it: the people are there, and nothing of theirs.
    first = await filled_here(tmp_path, apps=())
    async with assembled(Settings(data=tmp_path), passwords=cheap()) as application, client_at(application) as client:
        before = await rows_of(application.state.engine)
        with pytest.raises(AlreadyHere) as refused:
            await filled_here(tmp_path)
        assert refused.value.email == first.sign_ins[0].email
        after = await rows_of(application.state.engine)
        for table in (accounts, inventory, ranked_choice_polls):
            assert after[table.name] == before[table.name]
        assert await signed_in(client, first.sign_ins[0])


async def test_of_two_demos_that_both_found_nobody_one_is_made(tmp_path, monkeypatch):
    async def look_away(_):
        pass

    await filled_here(tmp_path, apps=())
    monkeypatch.setattr(demo, "_refuse_a_second", look_away)
    with pytest.raises(AlreadyHere):
        await filled_here(tmp_path, apps=())


async def test_passwords_are_new_each_time_and_nobody_stays_signed_in(tmp_path):
    found = [await filled_here(tmp_path / name, apps=()) for name in ("one", "two")]
    passwords = {each.password for made in found for each in made.sign_ins}
    assert len(passwords) == 10
    async with assembled(Settings(data=tmp_path / "one"), (), passwords=cheap()) as application:
        rows = await rows_of(application.state.engine)
    kept = sorted(row["entityType"]["S"] for row in rows[accounts.name])
    assert kept == ["Account"] * 5 + ["Administration"] + ["EmailAddress"] * 5 + ["SecretCheck"], "and no session"


async def test_people_do_things_at_times_of_their_own_and_the_clock_is_set_right(tmp_path):
    clock = Clock()
    seen = []

    async def played(demo):
        for days in (3, 1):
            demo.ago(days=days)
            seen.append(core_clock())

    def app(core):
        nonlocal core_clock
        core_clock = core.clock
        return app_with("played", demo=played)(core)

    core_clock = None
    await filled_here(tmp_path, apps=[app], clock=clock)
    assert seen == [clock.now - timedelta(days=3), clock.now - timedelta(days=1)]
    assert core_clock() == clock.now


async def test_an_operator_needs_no_invitation(tmp_path):
    settings = replace(Settings(data=tmp_path), registration="closed")
    made = await filled(settings, lambda _: None, (), passwords=cheap())
    assert len(made.sign_ins) == 5


def test_the_command_prints_the_sign_ins_once_and_says_what_to_do_the_second_time(tmp_path, monkeypatch, capsys):
    async def without_apps(settings, tell):
        return await filled(settings, tell, (), passwords=cheap())

    monkeypatch.setattr(demo, "filled", without_apps)
    monkeypatch.setenv("POTLUCK_ORIGIN", "https://potluck.example")
    assert main(["demo", "--data", str(tmp_path / "data")]) == 0
    said = capsys.readouterr()
    assert "https://potluck.example/sign-in" in said.out
    assert [name for name, _, _ in SIGN_IN.findall(said.out)] == list(demo.NAMES.values())
    assert not SIGN_IN.search(said.err)
    assert main(["demo", "--data", str(tmp_path / "data")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("potluck: mara@potluck.example is here already")
    assert "--data" in said.err
    assert said.err.count("\n") == 1
