import asyncio
import contextlib
import re
import urllib.request
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from potluck.commands.main import main
from potluck.engines import open_engine
from potluck.people.errors import InvitationInvalid, ResetInvalid
from potluck.settings import Settings
from potluck.suite import core_on
from potluck.web.direct_calls import Direct
from potluck.web.people import PeopleApp
from potluck.web.people.accounts import NewAccount, register
from potluck.web.people.context import PeopleContext
from potluck.web.people.password_resets import PasswordChoice, choose_password
from potluck.web.people.sessions import Credentials, sign_in
from tests.processes import running, stopped


def test_links_name_the_port_that_is_really_used(tmp_path, monkeypatch, capsys):
    with running("serve", "--port", "0", cwd=tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}/schema") as answer:
            assert f"POTLUCK={address}\n" in answer.read().decode()
        monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
        assert main(["invite", "--data", str(tmp_path / "data")]) == 0
        assert capsys.readouterr().out.startswith(f"{address}/sign-up#")
        assert stopped(process) == 0
    assert main(["invite", "--data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:8000/sign-up#")


def test_with_an_identity_provider_the_link_leads_to_where_one_can_choose_it(tmp_path, monkeypatch, capsys):
    for name, value in {
        "REGISTRATION": "invited",
        "ORIGIN": "https://potluck.example",
        "OIDC_ISSUER": "https://auth.example.org",
        "OIDC_CLIENT_ID": "potluck",
    }.items():
        monkeypatch.setenv(f"POTLUCK_{name}", value)
    assert main(["invite", "--data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out.startswith("https://potluck.example/invitation#pli_")


@contextlib.asynccontextmanager
async def people_in(folder, registration="invited"):
    """People on this store, as while the suite runs."""
    engine = await open_engine(path=folder / "potluck.db")
    core = core_on(engine, Settings(data=folder, registration=registration), b"secret", lambda: datetime.now(UTC))
    try:
        yield Direct(core, PeopleApp.subjects, PeopleContext(core, ()))
    finally:
        core.people.close()
        await engine.close()


async def link(capsys, *arguments):
    """What a command prints to be handed over, split before the secret."""
    status = await asyncio.to_thread(main, arguments)
    said = capsys.readouterr()
    assert status == 0, said.err
    assert said.out.count("\n") == 1
    assert re.fullmatch(r"[^#]+#pl[ir]_[0-9a-f]{64}\n", said.out)
    return said.out.strip().split("#")


async def test_the_operator_invites_the_first_person_and_helps_who_forgot(tmp_path, monkeypatch, capsys):
    data = tmp_path / "data"
    monkeypatch.setenv("POTLUCK_DATA", str(data))
    monkeypatch.setenv("POTLUCK_ORIGIN", "https://potluck.example/")
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    # Before the suite has ever run here.
    address, invitation = await link(capsys, "invite")
    assert address == "https://potluck.example/sign-up"
    # The store stays open, as it is while the suite runs.
    async with people_in(data) as people:
        ada = NewAccount(email="Ada@example.org", password="correct horse", name="Ada", invitation=invitation)
        await people.do(register, None, ada)
        with pytest.raises(InvitationInvalid):
            await people.do(register, None, replace(ada, email="ben@example.org"))
        address, first = await link(capsys, "reset-password", "ada@EXAMPLE.org")
        assert address == "https://potluck.example/reset"
        _, second = await link(capsys, "reset-password", "ada@example.org")
        with pytest.raises(ResetInvalid):
            await people.do(choose_password, None, PasswordChoice(token=first, new="battery staple"))
        await people.do(choose_password, None, PasswordChoice(token=second, new="battery staple"))
        assert await people.do(sign_in, None, Credentials(email="ada@example.org", password="battery staple"))


@pytest.mark.parametrize(
    ("arguments", "registration", "said"),
    [
        (["reset-password", "nobody@example.org"], "open", "no account has the e-mail address nobody@example.org"),
        (
            ["reset-password", "nobody"],
            "open",
            "E-mail must be an address such as ada@example.org, of at most 254 characters",
        ),
        (["invite"], "open", "anyone can register at http://127.0.0.1:8000/sign-up without an invitation"),
        (["invite"], "closed", "no one can register, not even with an invitation"),
    ],
)
def test_what_the_operator_cannot_do_is_one_sentence(tmp_path, monkeypatch, capsys, arguments, registration, said):
    monkeypatch.setenv("POTLUCK_DATA", str(tmp_path))
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    assert main(["invite"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("POTLUCK_REGISTRATION", registration)
    assert main(arguments) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("potluck: ")
    assert told.err.endswith(f"{said}\n")
    assert told.err.count("\n") == 1


def test_the_commands_for_people_work_on_the_service_too(tmp_path, monkeypatch, capsys):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    with running("dynamodb", "--port", "0", cwd=tmp_path) as (_, address):
        monkeypatch.setenv("POTLUCK_ENGINE", "aws")
        monkeypatch.setenv("POTLUCK_ENDPOINT", address)
        monkeypatch.setenv("POTLUCK_REGION", "us-east-1")
        assert main(["reset-password", "ada@example.org"]) == 1
        assert capsys.readouterr().err.count("\n") == 1
        monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
        assert main(["invite"]) == 0
        assert "/sign-up#pli_" in capsys.readouterr().out
        assert main(["reset-password", "ada@example.org"]) == 1
        assert "no account has the e-mail address" in capsys.readouterr().err
