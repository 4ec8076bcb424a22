"""Who is an admin, decided by the write; and what admins and the operator do with accounts."""

import asyncio
import contextlib
from uuid import uuid4

import pytest

from potluck.people.entities import Account, Administration, EmailAddress, SecretCheck
from potluck.people.errors import (
    AccountDisabled,
    AccountWaiting,
    OnlyAdmin,
    OthersNeedThem,
    SignInNeeded,
    WrongCredentials,
    WrongPassword,
    WrongStatus,
)
from potluck.table import absent
from potluck.web.errors import NotFound
from potluck.web.people.account import AccountData
from potluck.web.people.administration import (
    AdminsPassword,
    PeopleFilter,
    approve,
    decline,
    delete_person,
    demote,
    disable,
    enable,
    page_of_people,
    promote,
    reset_password,
)
from tests.engine_targets import EMBEDDED
from tests.people.assembly import PASSWORD, WRAPPERS, assembled, outcomes

FIRST_SIGN_UPS = 12


async def number_of_admins(people):
    row = await people.store.get(Administration.of_store())
    return None if row is None else row.admins


async def with_admin(people, email="ada@example.org", name="Ada"):
    """Someone who was made an admin, as the operator does it."""
    admin = await people.registered(email, name)
    await people.decide("promote", email)
    return admin


async def person(people, email="ben@example.org", name="Ben"):
    return await people.registered(email, name)


# --- the first account ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", WRAPPERS)
async def test_of_several_first_sign_ups_at_once_exactly_one_is_an_admin(tmp_path, wrapper):
    async with assembled(EMBEDDED, tmp_path, wrap=WRAPPERS[wrapper], first=True) as people:
        ended = await outcomes(
            *(people.register(f"p{number}@example.org", PASSWORD, f"P{number}") for number in range(FIRST_SIGN_UPS))
        )
        accounts = [account async for account in people.store.each(Account.every())]
        assert len(accounts) == ended["done"] >= 1
        assert sum(account.admin for account in accounts) == 1
        assert await number_of_admins(people) == 1


async def test_nobody_becomes_an_admin_in_a_store_from_before_there_were_admins(tmp_path):
    async with assembled(EMBEDDED, tmp_path, first=True) as people:
        await people.store.put(SecretCheck(check="c" * 64))
        from_before = Account(
            user_id=uuid4(),
            email="old@example.org",
            name="Old",
            password_hash="x",
            created_at=people.clock(),
            updated_at=people.clock(),
        )
        await people.store.put(from_before, when=absent)
        await people.store.put(EmailAddress(folded="old@example.org", user_id=from_before.user_id), when=absent)
        newcomer = await people.registered()
        assert not (await people.account(newcomer.user_id)).admin
        assert await number_of_admins(people) == 0
        await people.decide("promote", "old@example.org")
        assert (await people.account(from_before.user_id)).admin
        assert await number_of_admins(people) == 1


async def test_the_first_account_waits_for_no_approval_and_the_next_one_does(tmp_path):
    async with assembled(EMBEDDED, tmp_path, registration="approval", first=True) as people:
        first = await people.account((await people.registered()).user_id)
        assert (first.status, first.admin) == ("active", True)
        second = await people.register("ben@example.org", PASSWORD, "Ben")
        assert (second.token, second.token_expires_at) == (None, None)
        ben = await people.account(second.user_id)
        assert (ben.status, ben.admin, ben.signed_in_at) == ("waiting", False, None)


# --- the last admin ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [demote, disable])
async def test_the_last_admin_stays_one(embedded_people, rule):
    people = embedded_people
    await people.store.put(Administration(admins=0))
    ada = await with_admin(people)
    with pytest.raises(OnlyAdmin):
        await people.do(rule, ada, user_id=ada.user_id)
    with pytest.raises(OnlyAdmin):
        await people.delete(ada, PASSWORD)
    account = await people.account(ada.user_id)
    assert (account.status, account.admin) == ("active", True)
    assert await people.known((await people.sign_in("ada@example.org", PASSWORD)).token)


async def test_of_two_admins_who_give_it_up_at_once_one_stays(busy_people):
    people = busy_people
    await people.store.put(Administration(admins=0))
    ada = await with_admin(people)
    ben = await with_admin(people, "ben@example.org", "Ben")
    assert await number_of_admins(people) == 2
    ended = await outcomes(
        people.do(demote, ada, user_id=ada.user_id),
        people.delete(ben, PASSWORD),
        people.do(disable, ada, user_id=ben.user_id),
        people.do(demote, ben, user_id=ada.user_id),
    )
    assert ended["done"] >= 1
    left = [
        account async for account in people.store.each(Account.every()) if account.admin and account.status == "active"
    ]
    assert len(left) == await number_of_admins(people) == 1


async def test_an_admin_who_is_disabled_does_not_count_until_enabled(embedded_people):
    people = embedded_people
    await people.store.put(Administration(admins=0))
    ada, ben = await with_admin(people), await with_admin(people, "ben@example.org", "Ben")
    await people.do(disable, ada, user_id=ben.user_id)
    assert await number_of_admins(people) == 1
    with pytest.raises(OnlyAdmin):
        await people.do(demote, ada, user_id=ada.user_id)
    await people.do(enable, ada, user_id=ben.user_id)
    assert await number_of_admins(people) == 2
    # What is so already changes nothing.
    for rule in (enable, promote):
        await people.do(rule, ada, user_id=ben.user_id)
    assert await number_of_admins(people) == 2
    await people.do(demote, ada, user_id=ada.user_id)
    assert await number_of_admins(people) == 1


async def test_the_operator_may_let_the_last_admin_go(embedded_people):
    people = embedded_people
    await people.store.put(Administration(admins=0))
    ada = await with_admin(people)
    await people.decide("delete", "ada@example.org")
    assert await people.store.get(Account.by_id(ada.user_id)) is None
    assert await number_of_admins(people) == 0


async def test_of_fifty_who_promote_and_demote_at_once_the_count_is_right(busy_people):
    people = busy_people
    ada = await with_admin(people)
    ben = await person(people)
    await outcomes(*(people.do((promote, demote)[turn % 2], ada, user_id=ben.user_id) for turn in range(20)))
    admins = [account async for account in people.store.each(Account.every()) if account.admin]
    # The one that the test's store begins with, and those.
    assert await number_of_admins(people) == 1 + len(admins)


# --- disabling --------------------------------------------------------------------------------------------------------


async def test_who_is_disabled_is_signed_out_at_once_everywhere_and_enabling_restores_it(people):
    ada, ben = await with_admin(people), await person(people)
    token = (await people.make_token(ben, "Backup")).token
    session = await people.signed_in("ben@example.org")
    await people.do(disable, ada, user_id=ben.user_id)
    for secret in (token, session):
        assert await people.authenticator.authenticate(secret) is None
    with pytest.raises(AccountDisabled):
        await people.sign_in("ben@example.org", PASSWORD)
    await people.do(enable, ada, user_id=ben.user_id)
    for secret in (token, session):
        assert (await people.known(secret)).user_id == ben.user_id


async def test_only_the_right_password_is_told_that_an_account_is_disabled_or_waiting(embedded_people):
    people = embedded_people
    ada, ben = await with_admin(people), await person(people)
    await people.do(disable, ada, user_id=ben.user_id)
    people.settle("approval")
    await people.register("eve@example.org", PASSWORD, "Eve")
    for email, said in (("ben@example.org", AccountDisabled), ("eve@example.org", AccountWaiting)):
        people.hasher.computed.clear()
        with pytest.raises(WrongCredentials):
            await people.sign_in(email, "wrong horse!")
        # As much work as for anyone else.
        assert people.hasher.computed == ["verify"]
        with pytest.raises(said):
            await people.sign_in(email, PASSWORD)


async def test_who_is_disabled_while_signing_in_does_not_get_in(embedded_people):
    people = embedded_people
    ada, ben = await with_admin(people), await person(people)
    attempts = [people.sign_in("ben@example.org", PASSWORD) for _ in range(8)]
    ended = await asyncio.gather(*attempts, people.do(disable, ada, user_id=ben.user_id), return_exceptions=True)
    for outcome in ended[:-1]:
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, AccountDisabled), outcome
        else:
            assert await people.authenticator.authenticate(outcome.token) is None


# --- approving --------------------------------------------------------------------------------------------------------


async def test_who_is_approved_can_sign_in_and_who_is_declined_is_gone(people):
    ada = await with_admin(people)
    people.settle("approval")
    ben = await people.register("ben@example.org", PASSWORD, "Ben")
    eve = await people.register("eve@example.org", PASSWORD, "Eve")
    for rule in (disable, enable, promote):
        with pytest.raises(WrongStatus):
            await people.do(rule, ada, user_id=ben.user_id)
    await people.do(approve, ada, user_id=ben.user_id)
    assert await people.signed_in("ben@example.org")
    await people.do(decline, ada, user_id=eve.user_id)
    assert not any(str(eve.user_id) in str(row) for row in await people.rows())
    # The address is free again.
    await people.register("eve@example.org", PASSWORD, "Eve")
    with pytest.raises(WrongStatus):
        await people.do(decline, ada, user_id=ben.user_id)
    assert await people.signed_in("ben@example.org")


async def test_who_is_approved_and_declined_at_once_is_either_here_or_gone(busy_people):
    people = busy_people
    ada = await with_admin(people)
    people.settle("approval")
    ben = await people.register("ben@example.org", PASSWORD, "Ben")
    ended = await outcomes(people.do(approve, ada, user_id=ben.user_id), people.do(decline, ada, user_id=ben.user_id))
    assert ended.get("done") in (1, 2)
    account = await people.store.get(Account.by_id(ben.user_id))
    address = await people.store.get(EmailAddress.by_folded("ben@example.org"))
    assert (account is None) == (address is None)
    assert account is None or account.status == "active"


async def test_who_is_approved_while_being_declined_keeps_what_they_make(people, monkeypatch):
    ada = await with_admin(people)
    people.settle("approval")
    ben = await people.register("ben@example.org", PASSWORD, "Ben")
    made = []
    forget = AccountData.forget

    async def approved_just_before(data, user_id, but_session=None):
        if not made and await people.store.get(Account.by_id(user_id)) is not None:
            await people.do(approve, ada, user_id=user_id)
            made.append(await people.signed_in("ben@example.org"))
        await forget(data, user_id, but_session)

    monkeypatch.setattr(AccountData, "forget", approved_just_before)
    with contextlib.suppress(WrongStatus):
        await people.do(decline, ada, user_id=ben.user_id)
    for secret in made:
        assert await people.authenticator.authenticate(secret) is not None
    assert bool(made) == (await people.store.get(Account.by_id(ben.user_id)) is not None)


# --- who may ----------------------------------------------------------------------------------------------------------

CHANGES = [approve, disable, enable, promote, demote]


@pytest.mark.parametrize("rule", CHANGES)
async def test_to_everyone_but_admins_none_of_it_exists(embedded_people, rule):
    people = embedded_people
    await with_admin(people)
    ben, eve = await person(people), await person(people, "eve@example.org", "Eve")
    for whose in (ben, eve):
        with pytest.raises(NotFound):
            await people.do(rule, ben, user_id=whose.user_id)


async def test_an_admin_is_none_as_soon_as_the_role_is_gone(embedded_people):
    people = embedded_people
    ada, ben = await with_admin(people), await with_admin(people, "ben@example.org", "Ben")
    eve = await person(people, "eve@example.org", "Eve")
    await people.do(demote, ada, user_id=ben.user_id)
    with pytest.raises(NotFound):
        await people.do(disable, ben, user_id=eve.user_id)
    assert (await people.account(eve.user_id)).status == "active"


async def test_an_api_token_looks_after_nobody(embedded_people):
    people = embedded_people
    ada, ben = await with_admin(people), await person(people)
    program = await people.known((await people.make_token(ada, "Script")).token)
    with pytest.raises(SignInNeeded):
        await people.do(disable, program, user_id=ben.user_id)


# --- deleting, and new passwords --------------------------------------------------------------------------------------


async def test_deleting_someone_takes_the_admins_password_and_leaves_no_row(people):
    ada, ben = await with_admin(people), await person(people)
    await people.make_token(ben, "Backup")
    with pytest.raises(WrongPassword):
        await people.do(delete_person, ada, (AdminsPassword, {"password": "wrong horse!"}), user_id=ben.user_id)
    assert await people.signed_in("ben@example.org")
    await people.do(delete_person, ada, (AdminsPassword, {"password": PASSWORD}), user_id=ben.user_id)
    assert not any(str(ben.user_id) in str(row) for row in await people.rows())
    with pytest.raises(WrongCredentials):
        await people.sign_in("ben@example.org", PASSWORD)


async def test_an_admin_is_told_how_many_places_need_someone_and_not_which(tmp_path):
    async def still_needed(_):
        return ["The secret society", "The Lovelaces"]

    async with assembled(EMBEDDED, tmp_path, still_needed=still_needed) as people:
        ada, ben = await with_admin(people), await person(people)
        with pytest.raises(OthersNeedThem) as refused:
            await people.do(delete_person, ada, (AdminsPassword, {"password": PASSWORD}), user_id=ben.user_id)
        assert "2 places" in str(refused.value)
        assert "society" not in str(refused.value)
        assert await people.signed_in("ben@example.org")


async def test_one_does_not_delete_oneself_among_the_people(embedded_people):
    people = embedded_people
    ada = await with_admin(people)
    with pytest.raises(WrongStatus):
        await people.do(delete_person, ada, (AdminsPassword, {"password": PASSWORD}), user_id=ada.user_id)


async def test_an_admin_makes_a_link_for_a_new_password(embedded_people):
    people = embedded_people
    ada, ben = await with_admin(people), await person(people)
    with pytest.raises(WrongPassword):
        await people.do(reset_password, ada, (AdminsPassword, {"password": "wrong horse!"}), user_id=ben.user_id)
    made = await people.do(reset_password, ada, (AdminsPassword, {"password": PASSWORD}), user_id=ben.user_id)
    await people.redeem(made.token, "battery staple")
    assert await people.signed_in("ben@example.org", "battery staple")


# --- the list ---------------------------------------------------------------------------------------------------------


async def listed(people, limit=50, after=None, **wanted):
    class At:
        store = people.store

        async def show(self, view, accounts):
            return accounts

    found, following = await page_of_people(At(), PeopleFilter(**wanted), limit, after)
    return [account.name for account in found], following


async def test_people_are_listed_by_name_page_by_page_and_found_by_name_or_address(people):
    ada = await with_admin(people)
    for name in ("Zoë", "ben", "Álvaro", "Benedikt"):
        await person(people, f"{name.lower()}@example.org", name)
    assert (await listed(people))[0] == ["Ada", "Álvaro", "ben", "Benedikt", "Zoë"]
    names, following, after = [], True, None
    while following:
        page, after = await listed(people, 2, after)
        names += page
        following = after is not None
    assert names == ["Ada", "Álvaro", "ben", "Benedikt", "Zoë"]
    assert (await listed(people, q="BEN"))[0] == ["ben", "Benedikt"]
    assert (await listed(people, q="zoe"))[0] == ["Zoë"]
    assert (await listed(people, q="Zoë@Example.org"))[0] == ["Zoë"]
    assert (await listed(people, q="nobody@example.org"))[0] == []
    assert (await listed(people, status="disabled"))[0] == []
    ben = (await people.sign_in("ben@example.org", PASSWORD)).token
    await people.do(disable, ada, user_id=(await people.known(ben)).user_id)
    assert (await listed(people, status="disabled"))[0] == ["ben"]
    assert (await listed(people, q="ben"))[0] == ["Benedikt"]


async def test_signing_in_is_recorded(embedded_people):
    people = embedded_people
    ada = await people.registered()
    assert (await people.account(ada.user_id)).signed_in_at == people.clock()
    people.clock.forward(days=3)
    await people.signed_in()
    account = await people.account(ada.user_id)
    assert (account.signed_in_at, account.version) == (people.clock(), 1)
