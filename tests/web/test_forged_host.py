"""A Host that a request merely claims is in no link that people pass on."""

import pytest

from potluck.suite import APPS
from tests.web.suites import API, bearer, client_at, data, signed_up, suite_on

EVIL = "evil.example"


@pytest.fixture
async def suite(tmp_path):
    async with suite_on(tmp_path, APPS) as (client, application):
        yield client, application


async def test_a_forged_host_is_in_no_answer(suite):
    client, application = suite
    ada = await signed_up(client, "ada@example.org", "Ada")
    forged = {**bearer(ada), "host": EVIL}
    library = data(await client.post(f"{API}/libraries", json={"libraryName": "Home"}, headers=bearer(ada)), 201)
    family = data(await client.post(f"{API}/families", json={"name": "Us"}, headers=bearer(ada)), 201)
    calls = [
        ("/shareables", {"entity": "checklist", "name": "Packing"}),
        (f"/libraries/{library['libraryId']}/shares", {"email": "leo@example.org"}),
        (f"/families/{family['familyId']}/invitations", {"role": "member"}),
        ("/journal/links", {"coachEmail": "leo@example.org"}),
        ("/polls", {"title": "Where to?", "candidates": ["Sea", "Hut"]}),
    ]
    made = {}
    async with client_at(application) as theirs:
        for path, body in calls:
            answer = await theirs.post(f"{API}{path}", json=body, headers=forged)
            assert answer.status_code == 201, (path, answer.text)
            assert EVIL not in answer.text + str(answer.headers), path
            made[path] = answer.json()
        pages = [
            "/", "/schema", f"/shareables/{made['/shareables']['shortId']}", f"/polls/{made['/polls']['id']}/share",
            f"/polls/{made['/polls']['id']}", "/schema/openapi.json", "/shareables/AAA-bbb-00000",
        ]  # fmt: skip
        for path in pages:
            answer = await theirs.get(path, headers={"host": EVIL})
            assert EVIL not in answer.text + str(answer.headers), path
    # Where the test client says that it was reached.
    assert made["/shareables"]["url"].startswith("http://localhost/")
