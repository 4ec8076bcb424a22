"""Voting: one vote each, who may vote, changing and withdrawing; the counts are right through all of it."""

import asyncio
from datetime import timedelta

import pytest

from potluck.apps.polls.access import ToPoll, WrongKey
from potluck.apps.polls.entities import Code, Poll, Vote
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import change_poll, close_poll, delete_poll, make_codes, reopen_poll
from potluck.apps.polls.results import poll_results, turnout_of
from potluck.apps.polls.votes import (
    AccountNeeded,
    AlreadyVoted,
    CodeNeeded,
    PollClosed,
    cast_vote,
    change_vote,
    withdraw_vote,
)
from potluck.people.entities import Account
from potluck.people.errors import (
    AccountGone,
    AlreadyDone,
    KeyReused,
)
from potluck.people.idempotency import IdempotencyKey
from potluck.table import delete
from potluck.validation.errors import ValidationError
from potluck.web.errors import NotFound as NoSuchPoll
from tests.apps.polls.assembly import NOBODY, NOW, Polls, admin_of, outcomes, voter

RANKINGS = (["Ada"], ["Ben", "Ada"], ["Cyd", "Ben", "Ada"], ["Ben", "Cyd"])


def editor(vote) -> VoterKeys:
    return VoterKeys(edit_key=vote.edit_key)


# --- one vote each ---------------------------------------------------------------------------------------------------


async def test_a_vote_is_one_read_and_one_transaction_that_does_not_touch_the_poll(booth):
    poll = await booth.poll()
    await booth.cast(poll, "Ben", key="the first")
    with booth.recording.scope() as calls:
        cast = await booth.cast(poll, "Cyd", "Ada", key="k")
    assert calls.operations == ["GetItem", "TransactWriteItems"]
    (actions,) = [call.request["TransactItems"] for call in calls[1:]]
    assert [next(iter(each)) for each in actions] == ["Update", "Put", "Update"]
    touched = [next(iter(each.values())) for each in actions]
    assert "METADATA" not in str(touched)
    vote = await booth.store.one(Vote.one(poll.id, cast.id))
    assert (vote.rankings, vote.voted_at) == (["Cyd", "Ada"], NOW)
    assert await booth.counts(poll.id) == {(2,): 1, (3, 1): 1}
    assert cast.edit_key not in str(await booth.dump())


async def test_two_hundred_vote_at_once_some_of_them_twice_and_each_has_one_vote(busy_booth):
    booth = busy_booth
    poll = await booth.poll()
    twice = range(0, booth.many, 4)
    attempts = [*range(booth.many), *twice]
    done, refused = await outcomes(
        *(booth.cast(poll, *RANKINGS[number % len(RANKINGS)], key=f"voter {number}") for number in attempts)
    )
    assert (len(done), len({each.id for each in done})) == (booth.many, booth.many)
    assert [type(each) for each in refused] == [AlreadyVoted] * len(twice)
    assert await booth.agree(poll) == booth.many
    await booth.do(close_poll, admin_of(poll), poll.id)
    shown = await booth.do(poll_results, NOBODY, poll.id)
    assert (shown.status, shown.votes, shown.votes_version) == ("final", booth.many, booth.many)


async def test_votes_changed_and_withdrawn_at_once_stay_counted_once(busy_booth):
    booth = busy_booth
    poll = await booth.poll()
    some = booth.many // 4
    cast = [await booth.cast(poll, *RANKINGS[number % 4], key=str(number)) for number in range(some)]
    attempts = []
    for number, vote in enumerate(cast):
        attempts.append(booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=RANKINGS[(number + 1) % 4]))
        attempts.append(booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=RANKINGS[(number + 2) % 4]))
        if number % 3 == 0:
            attempts.append(booth.do(withdraw_vote, editor(vote), poll.id, vote.id))
            attempts.append(booth.cast(poll, "Ada", key=str(number)))
    done, refused = await outcomes(*attempts)
    # A change that comes after the withdrawal finds no vote, or one that was cast anew; nothing else is refused.
    assert {type(each) for each in refused} <= {WrongKey, AlreadyVoted}
    assert len(done) + len(refused) == len(attempts)
    left = await booth.agree(poll)
    assert some - some // 3 - 1 <= left <= some


async def test_who_shows_no_key_in_an_open_poll_is_a_new_voter(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    first, second = [await booth.cast(poll, "Ada") for _ in range(2)]
    assert first.id != second.id
    assert await booth.agree(poll) == 2


async def test_one_voter_has_unlike_ids_in_two_polls_and_under_another_key_of_the_suite(embedded_booth):
    booth = embedded_booth
    one, other = await booth.poll(), await booth.poll()
    first, second = await booth.cast(one, "Ada", key="k"), await booth.cast(other, "Ada", key="k")
    assert first.id != second.id
    await booth.do(withdraw_vote, editor(first), one.id, first.id)
    assert (await booth.cast(one, "Ben", key="k")).id == first.id
    await booth.do(withdraw_vote, VoterKeys(edit_key=second.edit_key), other.id, second.id)
    rekeyed = Polls(booth.store, b"another")
    assert (await rekeyed.do(cast_vote, voter("k"), other.id, rankings=["Ada"])).id != second.id


async def test_a_repeated_request_is_told_that_it_was_done_and_counts_once(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    key = IdempotencyKey.by_nobody("7b0d5f4e-3f43-4a8e-9d1c-0a3f2f9c2b11", "0" * 64)
    await booth.do(cast_vote, voter("k"), poll.id, rankings=["Ada"], key=key)
    with pytest.raises(AlreadyDone) as refused:
        await booth.do(cast_vote, voter("k"), poll.id, rankings=["Ada"], key=key)
    # Not the vote's id, which would be kept beside its voter's.
    assert refused.value.made == str(poll.id)
    # Under the same key but by somebody else: neither is there a vote of theirs.
    another = IdempotencyKey.by_nobody(key.value, "1" * 64)
    with pytest.raises(KeyReused):
        await booth.do(cast_vote, voter("other"), poll.id, rankings=["Ada"], key=another)
    assert await booth.agree(poll) == 1


# --- rankings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rankings", "field"),
    [
        ([], "rankings"),
        (["Ada", "Zoe"], "rankings[1]"),
        (["Ada", "ADA "], "rankings[1]"),
        (["Ada", "Ben", "Cyd"], "rankings"),
        (["Ada", "\ud800"], "body"),
    ],
)
async def test_what_is_no_ranking_is_refused_and_nothing_is_stored(embedded_booth, rankings, field):
    booth = embedded_booth
    poll = await booth.poll(max_rankings=2)
    vote = await booth.cast(poll, "Ada", key="k")
    before = await booth.dump()
    for attempt in (
        booth.do(cast_vote, voter("other"), poll.id, rankings=rankings),
        booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=rankings),
    ):
        with pytest.raises(ValidationError) as refused:
            await attempt
        assert [each.field for each in refused.value.errors] == [field]
    assert await booth.dump() == before


async def test_candidates_are_named_however_they_are_spelt_and_kept_as_the_poll_has_them(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll(["Zoë Ångström", "Ben"])
    cast = await booth.cast(poll, " zoe\u0308  A\u030aNGSTRO\u0308M")
    assert (await booth.store.one(Vote.one(poll.id, cast.id))).rankings == ["Zoë Ångström"]


# --- who may vote ----------------------------------------------------------------------------------------------------


async def test_a_code_is_good_for_one_vote_however_it_is_typed(booth):
    poll = await booth.poll(voter_policy="codes")
    codes = (await booth.do(make_codes, admin_of(poll), poll.id, count=3)).codes
    assert len(set(codes)) == 3
    typed = codes[0].lower().replace("-", " ").replace("0", "o").replace("1", "l")
    await booth.do(cast_vote, VoterKeys(code=typed), poll.id, rankings=["Ada"])
    for again in (codes[0], typed):
        with pytest.raises(AlreadyVoted):
            await booth.do(cast_vote, VoterKeys(code=again), poll.id, rankings=["Ben"])
    for without in (NOBODY, voter("k"), VoterKeys(code="7K3M-Q9TX-V2HD"), await booth.person()):
        with pytest.raises(CodeNeeded):
            await booth.do(cast_vote, without, poll.id, rankings=["Ben"])
    assert await booth.agree(poll) == 1
    stored = str(await booth.dump())
    assert not any(each in stored or each.replace("-", "") in stored for each in codes)


async def test_many_attempts_with_one_code_at_once_are_one_vote(busy_booth):
    booth = busy_booth
    poll = await booth.poll(voter_policy="codes")
    (code,) = (await booth.do(make_codes, admin_of(poll), poll.id, count=1)).codes
    done, refused = await outcomes(
        *(booth.do(cast_vote, VoterKeys(code=code), poll.id, rankings=["Ada"]) for _ in range(booth.many // 4))
    )
    assert (len(done), {type(each) for each in refused}) == (1, {AlreadyVoted})
    assert await booth.agree(poll) == 1


async def test_a_code_of_one_poll_opens_no_other(embedded_booth):
    booth = embedded_booth
    one, other = await booth.poll(voter_policy="codes"), await booth.poll(voter_policy="codes")
    (code,) = (await booth.do(make_codes, admin_of(one), one.id, count=1)).codes
    with pytest.raises(CodeNeeded):
        await booth.do(cast_vote, VoterKeys(code=code), other.id, rankings=["Ada"])


async def test_where_accounts_vote_each_has_one_vote_and_strangers_none(booth):
    poll = await booth.poll(voter_policy="accounts")
    ada, ben = await booth.person(), await booth.person("Ben")
    for person in (ada, ben):
        await booth.do(cast_vote, person, poll.id, rankings=["Cyd"])
    with pytest.raises(AlreadyVoted):
        await booth.do(cast_vote, VoterKeys(principal=ada.principal, voter_key="another"), poll.id, rankings=["Ada"])
    with pytest.raises(AccountNeeded):
        await booth.do(cast_vote, voter("k"), poll.id, rankings=["Ada"])
    await booth.store.write_each([delete(Account.by_id(ben.user_id))])
    with pytest.raises(AccountGone):
        await booth.do(cast_vote, ben, poll.id, rankings=["Ada"])
    assert await booth.agree(poll) == 2
    stored = str(await booth.dump())
    assert not any(str(each.user_id) in stored or each.user_id.hex in stored for each in (ada, ben))


# --- no one else's ---------------------------------------------------------------------------------------------------


async def test_nobody_sees_or_changes_a_vote_without_its_own_key(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    mine, theirs = await booth.cast(poll, "Ada", key="mine"), await booth.cast(poll, "Ben", key="theirs")
    forged = VoterKeys(edit_key=theirs.edit_key.replace(theirs.id.hex, mine.id.hex))
    before = await booth.dump()
    for stranger in (NOBODY, editor(theirs), forged, admin_of(poll), voter("mine"), VoterKeys(edit_key="x")):
        for attempt in (
            booth.do(change_vote, stranger, poll.id, mine.id, rankings=["Cyd"]),
            booth.do(withdraw_vote, stranger, poll.id, mine.id),
        ):
            with pytest.raises(WrongKey):
                await attempt
    for stranger in (NOBODY, forged, admin_of(poll), voter("mine"), VoterKeys(edit_key="ple_" + "g" * 96)):
        assert await (await booth.polls.admitted(ToPoll, stranger, poll.id)).own_vote() is None
    assert await booth.dump() == before
    own = await (await booth.polls.admitted(ToPoll, editor(mine), poll.id)).own_vote()
    assert own is not None
    assert own.rankings == ["Ada"]


async def test_a_key_opens_its_vote_in_its_own_poll_only(embedded_booth):
    booth = embedded_booth
    poll, other = await booth.poll(), await booth.poll()
    vote = await booth.cast(poll, "Ada", key="k")
    with pytest.raises(WrongKey):
        await booth.do(withdraw_vote, editor(vote), other.id, vote.id)
    assert await (await booth.polls.admitted(ToPoll, editor(vote), other.id)).own_vote() is None


async def test_a_vote_cast_anew_is_not_opened_by_the_key_of_the_one_withdrawn(booth):
    poll = await booth.poll()
    first = await booth.cast(poll, "Ada", key="k")
    await booth.do(withdraw_vote, editor(first), poll.id, first.id)
    with pytest.raises(WrongKey):
        await booth.do(withdraw_vote, editor(first), poll.id, first.id)
    second = await booth.cast(poll, "Ben", key="k")
    assert second.id == first.id
    with pytest.raises(WrongKey):
        await booth.do(change_vote, editor(first), poll.id, first.id, rankings=["Cyd"])
    assert await booth.agree(poll) == 1


async def test_withdrawn_and_cast_anew_between_reading_and_writing_a_change_of_the_first_is_refused(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    first = await booth.cast(poll, "Ada", key="k")
    elsewhere = booth.elsewhere()

    async def anew():
        await elsewhere.do(withdraw_vote, editor(first), poll.id, first.id)
        await elsewhere.do(cast_vote, voter("k"), poll.id, rankings=["Ada"])

    booth.meanwhile(anew)
    with pytest.raises(WrongKey):
        await booth.do(change_vote, editor(first), poll.id, first.id, rankings=["Cyd"])
    assert await booth.counts(poll.id) == {(1,): 1}


# --- changing --------------------------------------------------------------------------------------------------------


async def test_a_changed_vote_moves_from_one_count_to_another_and_saying_the_same_writes_nothing(booth):
    poll = await booth.poll()
    vote = await booth.cast(poll, "Ada", key="k")
    with booth.recording.scope() as calls:
        changed = await booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=["Ben", "Ada"])
    assert calls.operations == ["BatchGetItem", "TransactWriteItems"]
    assert changed.rankings == ["Ben", "Ada"]
    with booth.recording.scope() as calls:
        assert await booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=["ben", "ada"]) == changed
    assert calls.operations == ["BatchGetItem"]
    assert await booth.counts(poll.id) == {(2, 1): 1}
    assert (await turnout_of(booth.store, poll.id)).votes_version == 2


async def test_another_change_between_reading_and_writing_is_counted_off_too(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    vote = await booth.cast(poll, "Ada", key="k")
    elsewhere = booth.elsewhere()
    booth.meanwhile(lambda: elsewhere.do(change_vote, editor(vote), poll.id, vote.id, rankings=["Ben"]))
    await booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=["Cyd"])
    assert await booth.counts(poll.id) == {(3,): 1}
    assert await booth.agree(poll) == 1


# --- the end ---------------------------------------------------------------------------------------------------------


async def test_votes_are_taken_until_the_last_second_before_the_end_and_not_at_it(booth):
    poll = await booth.poll(expires_at=NOW + timedelta(minutes=1))
    booth.clock.forward(seconds=59.999)
    vote = await booth.cast(poll, "Ada", key="k")
    booth.clock.forward(seconds=0.001)
    before = await booth.dump()
    for attempt in (
        booth.cast(poll, "Ben", key="late"),
        booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=["Ben"]),
        booth.do(withdraw_vote, editor(vote), poll.id, vote.id),
    ):
        with pytest.raises(PollClosed):
            await attempt
    assert await booth.dump() == before
    assert (await booth.do(poll_results, NOBODY, poll.id)).status == "final"
    assert (await booth.store.one(Vote.one(poll.id, vote.id))).rankings == ["Ada"]


async def test_closing_refuses_votes_and_reopening_takes_them_again(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    vote = await booth.cast(poll, "Ada", key="k")
    await booth.do(close_poll, admin_of(poll), poll.id)
    for attempt in (
        booth.cast(poll, "Ben"),
        booth.do(change_vote, editor(vote), poll.id, vote.id, rankings=["Ben"]),
        booth.do(withdraw_vote, editor(vote), poll.id, vote.id),
    ):
        with pytest.raises(PollClosed):
            await attempt
    await booth.do(reopen_poll, admin_of(poll), poll.id)
    await booth.cast(poll, "Ben")
    assert await booth.agree(poll) == 2


@pytest.mark.parametrize("what", ["cast", "change", "withdraw"])
async def test_closed_or_deleted_between_reading_and_writing_nothing_is_counted(interrupted_booth, what):
    booth = interrupted_booth
    elsewhere = booth.elsewhere()
    for end, refusal in ((close_poll, PollClosed), (delete_poll, NoSuchPoll)):
        poll = await booth.poll()
        vote = await booth.cast(poll, "Ada", key="k")
        attempts = {
            "cast": lambda poll=poll: booth.cast(poll, "Ben"),
            "change": lambda poll=poll, vote=vote: booth.do(
                change_vote, editor(vote), poll.id, vote.id, rankings=["Ben"]
            ),
            "withdraw": lambda poll=poll, vote=vote: booth.do(withdraw_vote, editor(vote), poll.id, vote.id),
        }
        booth.meanwhile(lambda end=end, poll=poll: elsewhere.do(end, admin_of(poll), poll.id))
        with pytest.raises(refusal):
            await attempts[what]()
        assert await booth.counts(poll.id) == ({(1,): 1} if refusal is PollClosed else {})


async def test_of_votes_and_closing_at_once_every_vote_that_was_answered_is_in_the_final_results(busy_booth):
    booth = busy_booth
    poll = await booth.poll()

    async def closing():
        await asyncio.sleep(0.01)
        return await booth.do(close_poll, admin_of(poll), poll.id)

    done, refused = await outcomes(
        *(booth.cast(poll, *RANKINGS[number % 4], key=str(number)) for number in range(booth.many // 2)), closing()
    )
    assert {type(each) for each in refused} <= {PollClosed}
    final = await booth.do(poll_results, NOBODY, poll.id)
    assert (final.status, final.votes) == ("final", len(done) - 1)
    assert await booth.agree(poll) == len(done) - 1


# --- a vote and an edit ----------------------------------------------------------------------------------------------


async def test_a_vote_whose_poll_is_edited_meanwhile_is_counted_for_whom_it_names(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    candidates = ["Zoe", "Cyd", "Ada"]
    elsewhere = booth.elsewhere()
    booth.meanwhile(
        lambda: elsewhere.do(change_poll, admin_of(poll), poll.id, version=1, candidates=candidates, title="Whom?")
    )
    await booth.cast(poll, "Ada", "Cyd")
    assert await booth.counts(poll.id) == {(3, 2): 1}


async def test_a_vote_for_someone_whom_an_edit_took_off_meanwhile_is_refused(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    elsewhere, candidates = booth.elsewhere(), ["Ada", "Zoe"]
    booth.meanwhile(lambda: elsewhere.do(change_poll, admin_of(poll), poll.id, version=1, candidates=candidates))
    with pytest.raises(ValidationError):
        await booth.cast(poll, "Ada", "Cyd")
    assert await booth.counts(poll.id) == {}


async def test_no_vote_can_be_made_of_what_is_not_there(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    await booth.do(delete_poll, admin_of(poll), poll.id)
    with pytest.raises(NoSuchPoll):
        await booth.cast(poll, "Ada")
    assert await booth.store.get(Poll.one(poll.id)) is None
    assert not any(pk.startswith("POLL#") for pk, _ in await booth.dump())


async def test_a_code_row_says_neither_that_it_was_used_nor_by_whom(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll(voter_policy="codes")
    (code,) = (await booth.do(make_codes, admin_of(poll), poll.id, count=1)).codes

    async def code_rows():
        return [row for (_, sk), row in (await booth.dump()).items() if sk.startswith("CODE#")]

    before = await code_rows()
    cast = await booth.do(cast_vote, VoterKeys(code=code), poll.id, rankings=["Ada"])
    assert await code_rows() == before
    assert len(before) == 1
    assert str(cast.id) not in str(before)
    assert set(Code.__struct_fields__) == {"poll_id", "hash", "created_at"}
