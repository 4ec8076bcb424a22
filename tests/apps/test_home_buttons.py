"""The buttons of the home page do what they say, in one touch, and lead back."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from potluck.suite import APPS
from tests.people.assembly import PASSWORD, Clock
from tests.web.reading import BROWSER, Page, fields_of
from tests.web.suites import API, suite_on

FROM_HERE = BROWSER | {"sec-fetch-site": "same-origin"}


@pytest.fixture
async def home(tmp_path):
    clock = Clock()
    async with suite_on(tmp_path, APPS, clock=clock) as (client, _):
        client.headers.update(FROM_HERE)
        page = Home(client, clock)
        await client.post("/sign-up", data={"email": "mara@example.org", "password": PASSWORD})
        yield page


class Home:
    """The home page of someone who has just registered."""

    def __init__(self, client, clock):
        self.client, self.clock = client, clock

    async def read(self):
        return (await self.client.get("/")).text

    async def press(self, name):
        """Press the button of this name, by the form or the link that it is; where it leads."""
        text = await self.read()
        reader = Buttons(text)
        action = reader.forms.get(name)
        if action is None:
            return reader.links[name]
        # A browser also says so of a form without fields.
        as_form = {"content-type": "application/x-www-form-urlencoded"}
        answer = await self.client.post(action, content=urlencode(fields_of(text, action)), headers=as_form)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def make(self, path, **body):
        answer = await self.client.post(f"{API}{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None


class Buttons(Page):
    """Where the buttons of a page lead, by their names."""

    def __init__(self, text):
        self.forms, self.links, self._form = {}, {}, None
        super().__init__(text)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        attributes = dict(attrs)
        if tag == "form":
            self._form = attributes.get("action")
        elif tag == "button" and "aria-label" in attributes:
            self.forms[attributes["aria-label"]] = self._form
        elif tag == "a" and "aria-label" in attributes:
            self.links[attributes["aria-label"]] = attributes["href"]


async def test_someone_new_is_offered_the_first_step_in_each_app(home):
    text = await home.read()
    assert "Get started" in Page(text).words
    assert await home.press("New list: Shareables") == "/shareables/new"
    assert await home.press("New poll: Polls") == "/polls/new"
    assert await home.press("Write: Journal") == "/journal?write=1"
    assert await home.press("Start a list: Shopping") == "/shopping"
    assert await home.press("Add book: Library") == "/library"
    await home.make("/families", name="Lund Street 7")
    # What was begun is not offered again.
    assert "Start a list: Shopping" not in Buttons(await home.read()).links


async def test_what_runs_low_is_added_to_the_list_from_home(home):
    household = (await home.make("/families", name="Lund Street 7"))["familyId"]
    await home.make(f"/families/{household}/inventory", name="Rice", quantity=1, threshold=2)
    assert await home.press("Add: Rice") == "/"
    after = await home.read()
    assert "Add: Rice" not in Buttons(after).forms
    assert "1 to buy" in Page(after).words


async def test_a_loan_that_is_due_is_returned_from_home(home):
    shelf = (await home.make("/libraries", libraryName="Hall"))["libraryId"]
    book = await home.make(f"/libraries/{shelf}/books", title="Piranesi")
    due = home.clock().date() + timedelta(days=1)
    await home.make(f"/libraries/{shelf}/items/{book['itemId']}/lend", to="Ida", until=str(due))
    assert "Piranesi" not in Page(await home.read()).words
    home.clock.forward(days=1)
    assert "Ida has it. Due today." in Page(await home.read()).words
    assert await home.press("Returned: Piranesi") == "/"
    assert "Returned: Piranesi" not in Buttons(await home.read()).forms


async def test_a_poll_that_closes_today_asks_for_the_vote_that_is_missing(home):
    closes = (home.clock() + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    poll = await home.make(
        "/polls", title="Where to?", candidates=["Lake", "Forest"], voterPolicy="accounts", expiresAt=closes
    )
    assert "Closes in 5 hours. You haven’t voted yet." in Page(await home.read()).words
    assert await home.press("Vote: Where to?") == f"/polls/{poll['id']}"
    await home.make(f"/polls/{poll['id']}/votes", rankings=["Lake"])
    assert "You haven’t voted" not in Page(await home.read()).words


@pytest.mark.parametrize("elsewhere", ["//example.org/", "https://example.org/", "/\\example.org", ""])
async def test_a_form_leads_to_no_other_site(home, elsewhere):
    answer = await home.client.post("/shopping/families", params={"next": elsewhere}, data={"name": "Home"})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/shopping/")
