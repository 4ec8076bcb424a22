"""One mailbox is one account, however its address is spelled; accounts from before are found as they were."""

from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from potluck.people.email_addresses import move_addresses
from potluck.people.email_normal_form import former_normal_form, is_same_mailbox, normal_email
from potluck.people.entities import Account, EmailAddress
from potluck.people.errors import (
    AccountGone,
    EmailTaken,
    WrongCredentials,
)
from potluck.people.fields import ADDRESS, LONGEST_EMAIL
from potluck.table import delete, put, the
from potluck.validation.errors import ValidationError
from tests.people.assembly import PASSWORD, People

SPELLINGS = [
    "Ada@Bücher.example",
    "ａｄａ@bücher.example",
    "ada@ｂücher.example",
    "ada@bu\u0308cher.example.",
    "ada@bücher。example",
    "ADA@XN--BCHER-KVA.example",
    "ⓐda@bücher.example.",
]
NORMAL = "ada@xn--bcher-kva.example"


def test_spellings_of_one_mailbox_have_one_normal_form():
    assert {normal_email(each) for each in SPELLINGS} == {NORMAL}


def test_other_mailboxes_have_others():
    others = [
        "ada@bucher.example",
        "adá@bücher.example",
        "ada.@bücher.example",
        "ada+1@bücher.example",
        "a-da@x",
        "ada@x",
    ]
    assert len({normal_email(each) for each in [NORMAL, *others]}) == len(others) + 1


@pytest.mark.parametrize("other", ["ada@faß.example", "ada@xn--fa-hia.example", "ada@FAẞ.example", "aﬀa@fass.example"])
def test_who_has_proven_one_mailbox_has_not_proven_another_of_the_same_normal_form(other):
    plain = normal_email(other)
    assert plain.endswith("@fass.example")
    assert not is_same_mailbox(plain, other)
    assert not is_same_mailbox(other, plain)
    assert is_same_mailbox(other, other)


def test_spellings_of_one_mailbox_are_proven_together():
    for spelling in ("Ada@Bücher.example", "ada@bu\u0308cher.example", "ADA@XN--BCHER-KVA.example"):
        assert is_same_mailbox(spelling, NORMAL)
    assert not is_same_mailbox("ada@xn--\u00fc.example", NORMAL)


@given(
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=4),
    st.text("aß.üＡ。xn-\u0390ẞ", min_size=1),
)
def test_a_normal_form_is_its_own_and_that_of_its_former_one(mailbox, domain):
    address = f"{mailbox}@{domain}"
    normal = normal_email(address)
    assume(ADDRESS.fullmatch(address) and ADDRESS.fullmatch(normal))
    assert normal_email(normal) == normal == normal_email(former_normal_form(address))


@pytest.mark.parametrize("spelling", SPELLINGS[1:])
async def test_an_address_is_taken_and_signs_in_in_any_spelling(embedded_people, spelling):
    people = embedded_people
    ada = await people.registered(SPELLINGS[0])
    with pytest.raises(EmailTaken):
        await people.register(spelling, PASSWORD, "Another")
    ben = await people.registered("ben@example.org")
    with pytest.raises(EmailTaken):
        await people.change_email(ben, spelling, PASSWORD)
    assert (await people.known(await people.signed_in(spelling))).user_id == ada.user_id
    await people.redeem(await people.issue_reset(spelling), "battery staple")
    assert (await people.account(ada.user_id)).session_epoch == 2
    assert (await people.account(ada.user_id)).email == SPELLINGS[0], "shown as they wrote it"


async def test_another_spelling_of_ones_own_address_is_no_other_address(embedded_people):
    people = embedded_people
    ada = await people.registered(SPELLINGS[0])
    for epoch, spelling in enumerate(SPELLINGS[1:], start=2):
        moved = await people.change_email(ada, spelling, PASSWORD)
        ada = replace(ada, session_epoch=epoch)
        assert moved.email == spelling
    assert await addresses(people) == [NORMAL]


async def test_attempts_are_counted_for_all_spellings_together(embedded_people):
    people = embedded_people
    await people.registered(SPELLINGS[0])
    for spelling in SPELLINGS:
        with pytest.raises(WrongCredentials):
            await people.sign_in(spelling, "wrong horse!", "192.0.2.1")
    assert (await people.kinds()).count("Throttle") == 2, "one of the client, one of the address"


@pytest.mark.parametrize(
    "address",
    ["a＠b@example.org", "ada@．", "¨@example.org", "ada@" + "ﷺ" * 20 + ".org", "ﷺ" * 14 + "@example.org"],
)
async def test_an_address_whose_normal_form_is_none_is_refused(embedded_people, address):
    assert len(address) <= LONGEST_EMAIL
    with pytest.raises(ValidationError):
        await embedded_people.register(address, PASSWORD, "Ada")
    assert await embedded_people.rows() == []


# --- accounts from before ---------------------------------------------------------------------------------------------


async def test_an_account_from_before_signs_in_as_ever_and_then_in_any_spelling(people):
    ada = await from_before(people, "ａｄａ@bücher.example")
    assert (await people.known(await people.signed_in("Ａｄａ@Bücher.example"))).user_id == ada
    assert await addresses(people) == [NORMAL]
    for spelling in SPELLINGS:
        assert (await people.known(await people.signed_in(spelling))).user_id == ada


async def test_an_address_from_before_is_taken_for_those_who_spell_it_so(people):
    await from_before(people, "ada@bücher.example")
    with pytest.raises(EmailTaken):
        await people.register("Ada@bücher.example", PASSWORD, "Another")
    with pytest.raises(EmailTaken):
        await people.change_email(await people.registered("ben@example.org"), "ada@Bücher.example", PASSWORD)


async def test_two_accounts_from_before_with_one_normal_form_both_sign_in_by_their_own_spelling(people):
    wide = await from_before(people, "ａda@example.org")
    plain = (await people.registered("ada@example.org")).user_id
    dotted = await from_before(people, "ada@example.org.")
    for _ in range(2):
        assert (await people.known(await people.signed_in("ａda@example.org"))).user_id == wide
        assert (await people.known(await people.signed_in("ada@example.org"))).user_id == plain
        assert (await people.known(await people.signed_in("ada@example.org."))).user_id == dotted
        assert [progress.rewritten async for progress in move_addresses(people.store)] == [0]
    await people.redeem(await people.issue_reset("ａda@example.org"), "battery staple")
    assert (await people.account(wide)).session_epoch == 2


async def test_a_new_address_and_a_deletion_release_what_an_account_from_before_had(people):
    ada = await from_before(people, "ada@bücher.example")
    caller = await people.known((await people.sign_in("ada@bücher.example", PASSWORD)).token)
    await put_back(people, ada, "ada@bücher.example")
    await people.change_email(caller, "ＡＤＡ@bücher.example", PASSWORD)
    assert await addresses(people) == [NORMAL]
    await put_back(people, ada, "ＡＤＡ@bücher.example")
    await people.change_email(replace(caller, session_epoch=2), "ada@example.org", PASSWORD)
    assert await addresses(people) == ["ada@example.org"]
    ben = await from_before(people, "ben@bücher.example")
    secret = (await people.sign_in("ben@bücher.example", PASSWORD)).token
    await put_back(people, ben, "ben@bücher.example")
    await people.delete(await people.known(secret), PASSWORD)
    assert await addresses(people) == ["ada@example.org"]
    with pytest.raises(AccountGone):
        await people.issue_reset("ben@bücher.example")


async def test_a_backfill_moves_every_address_and_changes_nothing_the_second_time(people, monkeypatch):
    monkeypatch.setattr("potluck.people.email_addresses.ROWS_AT_ONCE", 2)
    for each in range(3):
        await from_before(people, f"ada{each}@bücher.example")
    await people.registered("ben@example.org")
    assert [progress.rewritten async for progress in move_addresses(people.store)][-1] == 3
    wanted = sorted(["ben@example.org", *(f"ada{each}@xn--bcher-kva.example" for each in range(3))])
    assert await addresses(people) == wanted
    assert [progress.rewritten async for progress in move_addresses(people.store)][-1] == 0
    with pytest.raises(EmailTaken):
        await people.register("ａda1@bücher.example", PASSWORD, "Another")


async def from_before(people: People, email: str) -> UUID:
    """An account whose address has its row under the former normal form."""
    other = await people.registered("before@example.org")
    account = await people.account(other.user_id)
    await people.store.delete(EmailAddress.by_folded("before@example.org"))
    await people.store.update(account, the(Account.email).becomes(email), keep_version=True)
    await people.store.put(EmailAddress(folded=former_normal_form(email), user_id=other.user_id))
    return other.user_id


async def put_back(people: People, user_id: UUID, email: str) -> None:
    """The row under the former normal form again, instead of the normal one."""
    await people.store.transact(
        delete(EmailAddress.by_folded(normal_email(email))),
        put(EmailAddress(folded=former_normal_form(email), user_id=user_id)),
    )


async def addresses(people: People) -> list[str]:
    rows = [row["PK"]["S"] for row in await people.rows() if row["entityType"]["S"] == "EmailAddress"]
    return sorted(each.removeprefix("EMAIL#") for each in rows)
