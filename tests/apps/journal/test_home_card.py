"""What the journal says on the home page: how the week goes, and who asks."""

from uuid import UUID

from potluck.apps.journal.app import JournalApp
from potluck.apps.journal.entities import AthleteCoachLink, CoachAthleteLink
from potluck.people.authentication import Principal
from potluck.table import put
from tests.apps.journal.gym import Gym, Person, data


def principal(person: Person) -> Principal:
    return Principal(
        kind="session",
        user_id=UUID(person["userId"]),
        name=person["name"],
        hash="0" * 64,
        session_epoch=1,
        expires_at=None,
    )


async def test_the_card_counts_the_local_week_and_shows_requests(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.person("Mara"), await gym.person("Renzo")
    card = JournalApp(gym.core).home_card
    empty = await card(principal(mara))
    assert (empty.fact, empty.waiting) == ("", [])
    assert empty.next_step is not None
    assert empty.next_step.at == "/journal?write=1"
    # The first of January 2040 is a Sunday, and there it is Monday already.
    await gym.add_entry(mara, date="2039-12-25T12:00:00Z")
    await gym.add_entry(mara, date="2039-12-26T12:00:00Z")
    await gym.add_entry(mara, date="2040-01-01T11:00:00Z")
    assert (await card(principal(mara))).fact == "2 sessions this week"
    data(await gym.ask("PATCH", "/profile", {"timeZone": "Pacific/Kiritimati", "version": 1}, by=mara))
    assert (await card(principal(mara))).fact == "1 session this week"
    ids = {"athlete_id": UUID(mara["userId"]), "coach_id": UUID(renzo["userId"])}
    said = {"requested_by": "athlete", "created_at": gym.clock(), "updated_at": gym.clock()}
    await gym.core.store.transact(*(put(kind(**ids, **said)) for kind in (CoachAthleteLink, AthleteCoachLink)))
    (waiting,) = (await card(principal(renzo))).waiting
    assert (waiting.name, waiting.note, waiting.action) == ("Mara", "asks you to be their coach", "Accept")
    assert waiting.sends == {"role": "athlete"}
    assert (await card(principal(mara))).waiting == []


async def test_comments_are_waiting_until_the_athlete_has_read_them(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    card = JournalApp(gym.core).home_card
    entry = await gym.add_entry(mara, date="2039-12-30T12:00:00Z")
    gym.clock.forward(seconds=1)
    await gym.add_comment(entry, renzo, "Hips first.")
    gym.clock.forward(seconds=1)
    await gym.add_comment(entry, renzo, f"And then: {'slowly ' * 40}")
    await gym.add_comment(entry, mara, "I will.")
    (waiting,) = (await card(principal(mara))).waiting
    assert (waiting.name, waiting.action) == ("Renzo commented on your session on Friday", "Read")
    assert waiting.note.startswith("“And then: slowly slowly")
    assert len(waiting.note) <= 105
    assert waiting.address == f"/journal/entries/{entry['entryId']}"
    assert (await card(principal(renzo))).waiting == []
    data(await gym.ask("POST", f"/entries/{entry['entryId']}/seen", {}, by=mara), 204)
    assert (await card(principal(mara))).waiting == []
