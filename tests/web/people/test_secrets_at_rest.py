"""No secret is in the database: every byte of its files is searched, and every row."""

from uuid import UUID, uuid4

from tests.web.people.doors import ANOTHER_PASSWORD, PASSWORD, doors_on


async def test_no_secret_is_in_any_byte_of_the_database(tmp_path):
    async with doors_on(tmp_path) as doors:
        key = str(uuid4())
        body = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
        ada = (await doors.ask("POST", "/accounts", body, idempotency_key=key)).json()
        signed_in = await doors.ask(
            "POST", "/sessions", {"email": "ada@example.org", "password": PASSWORD}, idempotency_key=str(uuid4())
        )
        token = await doors.ask("POST", "/me/tokens", {"name": "Backup"}, by=ada, idempotency_key="a token")
        invitation = await doors.invite("notes", str(uuid4()), "member", UUID(ada["userId"]))
        reset = await doors.issue_reset("ada@example.org")
        later = await doors.issue_reset("ada@example.org")
        await doors.ask(
            "PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER_PASSWORD}, by=ada, idempotency_key="a password"
        )
        # By a browser too: what its cookie holds is the same kind of secret.
        cookie = (await doors.sign_in(password=ANOTHER_PASSWORD)).json()["token"]
        assert (await doors.ask("GET", "/me", cookie=f"potluck={cookie}")).status_code == 200
        await doors.sign_in(password="a guess that was wrong")
        secrets = [
            PASSWORD,
            ANOTHER_PASSWORD,
            "a guess that was wrong",
            ada["token"],
            signed_in.json()["token"],
            token.json()["token"],
            invitation.secret,
            reset,
            later,
            cookie,
        ]
        assert len(set(secrets)) == len(secrets)
        # While it is open, so that what is still in the write-ahead log is searched too.
        files = {file.name: file.read_bytes() for file in (tmp_path / "data").iterdir()}
        rows = repr(await doors.rows())
    after = {file.name: file.read_bytes() for file in (tmp_path / "data").iterdir()}
    assert "potluck.db" in files
    assert any(name.endswith("-wal") and content for name, content in files.items())
    stored = b"".join([*files.values(), *after.values()])
    # What is stored is found by such a search.
    assert ada["userId"].encode() in stored
    assert b"$argon2id$" in stored
    for secret in secrets:
        for spelt in (secret, secret.partition("_")[2] or secret):
            assert spelt.encode() not in stored, spelt
            assert spelt.encode("utf-16-le") not in stored
            assert spelt not in rows
        raw = secret.partition("_")[2]
        if raw:
            assert bytes.fromhex(raw) not in stored
