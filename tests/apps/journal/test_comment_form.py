"""The form of a comment: sent twice, it makes one comment."""

import asyncio
from typing import Any

from tests.apps.journal.gym import Gym, Person
from tests.apps.journal.test_pages import look, send
from tests.web.reading import fields_of


async def shown_form(gym: Gym, entry: Any, by: Person) -> tuple[str, dict[str, Any]]:
    """Where the form is sent to, and its hidden field."""
    page = f"/journal/entries/{entry['entryId']}"
    held = fields_of(await look(gym, page, by), f"{page}/comments")
    return f"{page}/comments", {name: value for name, value in held.items() if name != "body"}


async def bodies(gym: Gym, entry: Any, by: Person) -> list[str]:
    return [each["body"] for each in (await gym.get(f"/entries/{entry['entryId']}/comments", by))["items"]]


async def test_comment_by_form_adds_one_comment_for_a_double_tap(gym: Gym):
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Armbar")
    address, form = await shown_form(gym, entry, renzo)
    answers = await asyncio.gather(*(send(gym, address, renzo, body="Hips first.", **form) for _ in range(4)))
    answers.append(await send(gym, address, renzo, body="Hips first.", **form))
    assert {each.status_code for each in answers} == {303}
    assert len({each.headers["location"] for each in answers}) == 1
    assert await bodies(gym, entry, mara) == ["Hips first."]
    (listed,) = (await gym.get("/entries", mara))["items"]
    assert listed["comments"] == 1


async def test_comment_by_form_adds_another_comment_for_the_next_form_or_other_text(embedded_gym: Gym):
    gym = embedded_gym
    mara, renzo = await gym.coached()
    entry = await gym.add_entry(mara, shared="Armbar")
    address, form = await shown_form(gym, entry, renzo)
    await send(gym, address, renzo, body="Hips first.", **form)
    # Back in the browser, and something else typed.
    assert (await send(gym, address, renzo, body="Then the knee.", **form)).status_code == 303
    # An id that somebody else's comment has is no reason to lose this one.
    assert (await send(gym, address, mara, body="Hips first.", **form)).status_code == 303
    address, form = await shown_form(gym, entry, renzo)
    await send(gym, address, renzo, body="Hips first.", **form)
    assert sorted(await bodies(gym, entry, mara)) == ["Hips first.", "Hips first.", "Hips first.", "Then the knee."]
