import asyncio
import json

import pytest

from potluck.commands.main import main
from potluck.people.entities import Account, Administration
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import opened
from potluck.web.direct_calls import Direct
from potluck.web.people import PeopleApp
from potluck.web.people.accounts import NewAccount, register
from tests.people.assembly import PASSWORD, CountingHasher


@pytest.fixture
def folder(tmp_path):
    """A data folder in which Ada was the first, and Ben came after her."""
    folder = tmp_path / "data"

    async def fill():
        async with opened(Settings(data=folder), passwords=Passwords(CountingHasher())) as (core, apps):
            people = Direct(core, PeopleApp(core, apps).subjects)
            for email, name in (("ada@example.org", "Ada"), ("ben@example.org", "Ben")):
                await people.do(register, None, NewAccount(email=email, password=PASSWORD, name=name))

    asyncio.run(fill())
    return folder


def accounts_in(folder):
    async def read():
        async with opened(Settings(data=folder)) as (core, _):
            accounts = {account.name: account async for account in core.store.each(Account.every())}
            return accounts, await core.store.one(Administration.of_store())

    return asyncio.run(read())


def people(folder, *arguments):
    return main(["people", *arguments, "--data", str(folder)])


def test_people_are_listed_with_status_and_role(folder, capsys):
    assert people(folder, "disable", "ben@example.org") == 0
    assert capsys.readouterr().out == "ben@example.org is disabled; its data is kept\n"
    assert people(folder, "list") == 0
    ada, ben = capsys.readouterr().out.splitlines()
    assert ada.startswith("Ada  ada@example.org  active, admin, last sign-in 20")
    assert ben.startswith("Ben  ben@example.org  disabled, last sign-in 20")
    assert people(folder, "list", "--status", "disabled", "--format", "json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["email"], found["status"], found["admin"]) == ("ben@example.org", "disabled", False)


def test_roles_change_and_the_operator_may_take_the_last_one(folder, capsys):
    assert people(folder, "promote", " BEN@example.org") == 0
    for email in ("ada@example.org", "ben@example.org"):
        assert people(folder, "demote", email) == 0
    accounts, administration = accounts_in(folder)
    assert administration.admins == 0
    assert not any(account.admin for account in accounts.values())


def test_an_account_is_deleted_only_with_yes(folder, capsys):
    assert people(folder, "delete", "ben@example.org") == 1
    assert capsys.readouterr().err.endswith("potluck: nothing was deleted; add --yes to delete it\n")
    assert set(accounts_in(folder)[0]) == {"Ada", "Ben"}
    assert people(folder, "delete", "ben@example.org", "--yes") == 0
    assert set(accounts_in(folder)[0]) == {"Ada"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["disable", "eve@example.org"], "no account has the e-mail address eve@example.org"),
        (["disable", "eve"], "E-mail must be an address such as ada@example.org"),
        (["approve", "ben@example.org"], ""),
        (["decline", "ben@example.org"], "The account is not waiting for approval"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder, capsys, arguments, said):
    done = people(folder, *arguments)
    error = capsys.readouterr().err
    assert done == (1 if said else 0)
    assert said in error
    assert len(error.splitlines()) <= 1


def test_there_are_no_people_where_there_is_no_store(tmp_path, capsys):
    assert people(tmp_path / "data", "list") == 1
    assert "potluck.db: name its folder with --data or POTLUCK_DATA" in capsys.readouterr().err
