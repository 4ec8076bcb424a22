"""Making a poll and looking after it: keys, lots, candidates, edits until the first vote, closing, codes, deleting."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from random import Random
from uuid import UUID

import msgspec
import pytest

from potluck.apps.polls import deletion
from potluck.apps.polls.access import WrongKey
from potluck.apps.polls.candidates import drawn
from potluck.apps.polls.consumers import consumers_of
from potluck.apps.polls.deletion import Deletions, PollKey
from potluck.apps.polls.entities import Code, CountRow, CreatedPoll, Deletion, Poll, PollRow, Vote
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import (
    NoCodesAsked,
    VotesBegun,
    change_poll,
    close_poll,
    create_poll,
    created,
    delete_poll,
    duplicate_poll,
    make_codes,
    one_poll,
    own_polls,
    reopen_poll,
)
from potluck.apps.polls.results import poll_audit, poll_results
from potluck.apps.polls.votes import cast_vote, withdraw_vote
from potluck.people.entities import Account
from potluck.people.errors import (
    AccountGone,
    AlreadyDone,
)
from potluck.people.idempotency import IdempotencyKey
from potluck.people.secrets import SYSTEM_RANDOM, new_id
from potluck.table import Unavailable, absent, delete, put
from potluck.validation.errors import ValidationError
from potluck.web.errors import Conflict
from potluck.web.errors import NotFound as NoSuchPoll
from tests.apps.polls.assembly import KEY, NOBODY, NOW, Polls, admin_of, outcomes
from tests.patience import PATIENCE_SECONDS, stopped

LATER = NOW + timedelta(hours=1)


async def wrong(attempt):
    with pytest.raises(ValidationError) as refused:
        await attempt
    # Of what is sent about candidates, which of them it is does not matter here.
    return [error.field.partition(".")[0] for error in refused.value.errors]


# --- making ----------------------------------------------------------------------------------------------------------


async def test_anyone_makes_a_poll_and_is_told_its_key_once(booth):
    with booth.recording.scope() as calls:
        made = await booth.poll(description="  Lunch\non Friday ", candidate_descriptions={"ada": " she "})
    assert calls.operations == ["TransactWriteItems"]
    assert (made.title, made.description, made.candidates) == ("Who?", "Lunch\non Friday", ["Ada", "Ben", "Cyd"])
    assert (made.candidate_descriptions, made.status, made.version) == ({"Ada": "she"}, "open", 1)
    assert (made.voter_policy, made.results_visibility, made.method, made.seats) == ("open", "always", "irv", 1)
    shown = await booth.do(one_poll, NOBODY, made.id)
    assert {**msgspec.structs.asdict(shown), "admin_key": made.admin_key} == msgspec.structs.asdict(made)
    assert made.admin_key not in str(await booth.dump())


async def test_the_answer_has_the_names_of_the_api(embedded_booth):
    made = msgspec.to_builtins(await embedded_booth.poll(expires_at=LATER))
    assert {"id", "title", "candidates", "lotOrder", "adminKey", "voterPolicy", "resultsVisibility"} <= set(made)
    assert made["expiresAt"] == "2040-01-01T13:00:00Z"


async def test_lots_are_drawn_by_the_randomness_that_is_given_and_published(embedded_booth):
    booth = embedded_booth
    bytes_drawn = iter(range(1, 1000))

    class Falling(Random):
        def randbytes(self, n: int) -> bytes:
            return (10**6 - next(bytes_drawn)).to_bytes(n)

    polls = Polls(booth.store, KEY, random=Falling())
    made = await polls.do(create_poll, NOBODY, title="Who?", candidates=["Ada", "Ben", "Cyd"])
    assert made.lot_order == ["Cyd", "Ben", "Ada"]
    assert (await booth.store.one(Poll.one(made.id))).lot_order == [3, 2, 1]


def test_every_order_of_the_lots_is_drawn_about_as_often():
    orders = Counter(tuple(drawn(3, SYSTEM_RANDOM)) for _ in range(6_000))
    assert len(orders) == 6
    # A thousand each; one in ten million runs is further off.
    assert all(820 < count < 1180 for count in orders.values())


async def test_a_poll_of_someone_signed_in_is_in_their_list_newest_first(booth):
    ada, ben = await booth.person(), await booth.person("Ben")
    polls = []
    for number in range(3):
        polls.append(await booth.poll(by=ada, title=str(number)))
        booth.clock.forward(seconds=1)
    await booth.poll(by=ben)
    with booth.recording.scope() as calls:
        assert [poll.title for poll in await booth.do(own_polls, ada)] == ["2", "1", "0"]
    assert calls.operations == ["Query", "BatchGetItem"]
    await booth.do(delete_poll, ada, polls[1].id)
    assert [poll.title for poll in await booth.do(own_polls, ada)] == ["2", "0"]


async def test_nothing_is_made_for_an_account_that_is_gone(embedded_booth):
    booth = embedded_booth
    ada = await booth.person()
    await booth.store.write_each([delete(Account.by_id(ada.user_id))])
    with pytest.raises(AccountGone):
        await booth.poll(by=ada)
    assert await booth.dump() == {}


async def test_an_answer_is_kept_in_the_same_transaction(embedded_booth):
    booth = embedded_booth
    ada = await booth.person()
    key = IdempotencyKey(ada.user_id, "once", "0" * 64)
    settings = {"title": "Who?", "candidates": ["Ada", "Ben"]}
    with booth.recording.scope() as calls:
        made = await booth.do(create_poll, ada, **settings, key=key)
    assert calls.operations.count("TransactWriteItems") == 1
    with pytest.raises(AlreadyDone) as refused:
        await booth.do(create_poll, ada, **settings, key=key)
    assert refused.value.made == str(made.id)
    assert [each.poll_id for each in await booth.store.all(CreatedPoll.of_creator(ada.user_id))] == [made.id]


# --- what is taken ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({"title": " "}, ["title"]),
        ({"title": "x" * 201}, ["title"]),
        ({"title": "two\nlines"}, ["title"]),
        ({"description": "x" * 2001}, ["description"]),
        ({"candidates": ["Ada"]}, ["candidates"]),
        ({"candidates": [str(number) for number in range(101)]}, ["candidates"]),
        ({"candidates": ["Ada", "", "x" * 101, "\u200d"]}, ["candidates[1]", "candidates[2]", "candidates[3]"]),
        ({"candidates": ["Ada", "a\ud800"]}, ["candidates[1]"]),
        ({"candidates": ["Ada", "<overvote>"]}, ["candidates[1]"]),
        ({"candidate_descriptions": {"Zoe": "?"}}, ["candidateDescriptions"]),
        ({"candidate_descriptions": {"Ada": "x" * 501}}, ["candidateDescriptions"]),
        ({"expires_at": NOW}, ["expiresAt"]),
        ({"expires_at": NOW + timedelta(microseconds=1)}, ["expiresAt"]),
        ({"expires_at": datetime(2050, 1, 1)}, ["expiresAt"]),
        ({"expires_at": datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5)))}, ["expiresAt"]),
        ({"voter_policy": "all"}, ["voterPolicy"]),
        ({"results_visibility": "never"}, ["resultsVisibility"]),
        ({"max_rankings": 0}, ["maxRankings"]),
        ({"max_rankings": 101}, ["maxRankings"]),
        ({"seats": 0}, ["seats"]),
        ({"seats": 4}, ["seats"]),
        ({"method": "chance"}, ["method"]),
        ({"method": "irv", "seats": 2}, ["method"]),
        ({"title": "", "seats": 0, "max_rankings": 0}, ["title", "maxRankings", "seats"]),
    ],
)
async def test_what_cannot_be_taken_is_named_all_at_once_and_nothing_is_written(embedded_booth, said, fields):
    booth = embedded_booth
    assert await wrong(booth.poll(**{"candidates": ["Ada", "Ben", "Cyd"], **said})) == fields
    assert await booth.dump() == {}
    made = await booth.poll()
    before = await booth.dump()
    assert await wrong(booth.do(change_poll, admin_of(made), made.id, version=1, **said)) == fields
    assert await booth.dump() == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "Cafe\u0301"),
        ("Ada", "ADA"),
        ("Straße", "STRASSE"),
        ("Ada  Lovelace", "\u00a0ada lovelace "),
        ("Ada", "A\u200cda"),
        ("❤", "❤\ufe0f"),
        ("葛", "葛\U000e0100"),
        ("İ", "i\u0307"),
    ],
)
async def test_names_that_a_voter_could_not_tell_apart_are_refused(embedded_booth, one, other):
    assert await wrong(embedded_booth.poll([one, "Zoe", other])) == ["candidates[2]"]


async def test_names_of_any_script_are_kept_and_voted_for(embedded_booth):
    booth = embedded_booth
    names = ["محمد", "Ольга", "山田太郎", "👩‍👩‍👧", "Zoë", "Zoe", "می‌خواهم", "=1+1"]
    poll = await booth.poll(names)
    assert poll.candidates == names
    await booth.cast(poll, *reversed(names))
    assert (await booth.do(poll_results, NOBODY, poll.id)).winners == ["=1+1"]


async def test_a_hundred_candidates_of_a_hundred_letters_fit_and_can_all_be_ranked(booth):
    names = [f"{number:03} " + "語" * 96 for number in range(100)]
    poll = await booth.poll(names, candidate_descriptions=dict.fromkeys(names, "語" * 500))
    await booth.cast(poll, *names)
    assert (await booth.do(poll_results, NOBODY, poll.id)).winners == names[:1]


async def test_several_seats_are_counted_by_stv_unless_another_method_is_said(embedded_booth):
    assert (await embedded_booth.poll(seats=2)).method == "stv"
    assert (await embedded_booth.poll(seats=2, method="schulze")).method == "schulze"


async def test_an_end_is_kept_in_utc_to_the_second(embedded_booth):
    made = await embedded_booth.poll(expires_at=datetime(2040, 1, 1, 20, 0, 0, 999_999, timezone(timedelta(hours=2))))
    assert made.expires_at == datetime(2040, 1, 1, 18, 0, tzinfo=UTC)


# --- who may ---------------------------------------------------------------------------------------------------------


async def test_only_the_key_or_its_maker_changes_a_poll(embedded_booth):
    booth = embedded_booth
    ada, ben = await booth.person(), await booth.person("Ben")
    poll, other = await booth.poll(by=ada), await booth.poll()
    before = await booth.dump()
    for stranger in (NOBODY, ben, admin_of(other), VoterKeys(admin_key="")):
        for attempt in (
            booth.do(change_poll, stranger, poll.id, version=1, title="Mine"),
            booth.do(close_poll, stranger, poll.id),
            booth.do(reopen_poll, stranger, poll.id),
            booth.do(delete_poll, stranger, poll.id),
            booth.do(duplicate_poll, stranger, poll.id),
            booth.do(make_codes, stranger, poll.id, count=1),
            booth.do(poll_audit, stranger, poll.id),
        ):
            with pytest.raises(WrongKey):
                await attempt
    assert await booth.dump() == before
    assert (await booth.do(close_poll, ada, poll.id)).status == "closed"
    assert (await booth.do(reopen_poll, admin_of(poll), poll.id)).status == "open"


async def test_a_poll_of_the_document_has_no_admin_and_no_empty_key_opens_it(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    stored = await booth.store.one(Poll.one(poll.id))
    await booth.store.write_each([delete(stored)])
    await booth.store.put(msgspec.structs.replace(stored, admin_key_hash=None), when=absent)
    for stranger in (NOBODY, VoterKeys(admin_key=""), admin_of(poll)):
        with pytest.raises(WrongKey):
            await booth.do(close_poll, stranger, poll.id)


async def test_a_poll_made_by_a_shareable_is_reached_only_through_it(embedded_booth):
    booth = embedded_booth
    shared = Polls(booth.store, KEY, shared=True)
    settings = {"title": "Who?", "candidates": ["Ada", "Ben"]}
    # In a transaction of its own, as the app that shares it does.
    writes = created(new_id(), settings, None, NOW, SYSTEM_RANDOM, short_id="abc-def-12345")
    await booth.store.transact(*writes.operations)
    poll = writes.answer
    await shared.do(cast_vote, NOBODY, poll.id, rankings=["Ada"])
    for attempt in (
        booth.do(one_poll, NOBODY, poll.id),
        booth.do(close_poll, admin_of(poll), poll.id),
        booth.do(poll_results, admin_of(poll), poll.id),
        booth.cast(poll, "Ada"),
    ):
        with pytest.raises(NoSuchPoll):
            await attempt
    with pytest.raises(NoSuchPoll):
        await shared.do(one_poll, NOBODY, (await booth.poll()).id)


# --- editing ---------------------------------------------------------------------------------------------------------


async def test_a_poll_is_edited_until_the_first_vote_and_stays_as_it_is_from_then_on(booth):
    poll = await booth.poll(candidate_descriptions={"Ada": "a", "Cyd": "c"})
    settings = {"candidates": ["Cyd", "Zoe"], "description": "x", "expires_at": LATER}
    edited = await booth.do(change_poll, admin_of(poll), poll.id, version=1, **settings)
    assert (edited.candidates, edited.candidate_descriptions) == (["Cyd", "Zoe"], {"Cyd": "c"})
    assert (edited.version, edited.description, edited.expires_at) == (2, "x", LATER)
    assert sorted(edited.lot_order) == ["Cyd", "Zoe"]
    assert await booth.do(one_poll, NOBODY, poll.id) == edited
    vote = await booth.cast(poll, "Zoe", key="k")
    with pytest.raises(VotesBegun):
        await booth.do(change_poll, admin_of(poll), poll.id, version=2, title="Whom?")
    # A vote that was withdrawn was cast: who cast it has seen the poll as it is.
    await booth.do(withdraw_vote, VoterKeys(edit_key=vote.edit_key), poll.id, vote.id)
    with pytest.raises(VotesBegun):
        await booth.do(change_poll, admin_of(poll), poll.id, version=2, title="Whom?")
    assert await booth.do(one_poll, NOBODY, poll.id) == edited


async def test_lots_stay_unless_the_candidates_change_and_saying_the_same_changes_nothing(embedded_booth):
    booth = embedded_booth
    names = [str(number) for number in range(50)]
    poll = await booth.poll(names)
    edited = await booth.do(change_poll, admin_of(poll), poll.id, version=1, title="Whom?")
    assert edited.lot_order == poll.lot_order
    with booth.recording.scope() as calls:
        same = await booth.do(change_poll, admin_of(poll), poll.id, version=2, title="Whom? ", candidates=names)
    assert (same, calls.operations) == (edited, ["GetItem"])
    turned = await booth.do(change_poll, admin_of(poll), poll.id, version=2, candidates=names[::-1])
    assert turned.lot_order not in (poll.lot_order, poll.lot_order[::-1])


async def test_an_edit_of_what_is_no_longer_so_is_told_what_it_is_now(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    elsewhere = booth.elsewhere()
    booth.meanwhile(lambda: elsewhere.do(change_poll, admin_of(poll), poll.id, version=1, title="Whom?"))
    with pytest.raises(Conflict) as refused:
        await booth.do(change_poll, admin_of(poll), poll.id, version=1, title="Whose?")
    assert (refused.value.current.title, refused.value.current.version) == ("Whom?", 2)
    with pytest.raises(Conflict):
        await booth.do(change_poll, admin_of(poll), poll.id, version=1, title="Whose?")


async def test_the_first_vote_between_reading_and_writing_an_edit_refuses_it(interrupted_booth):
    booth = interrupted_booth
    poll = await booth.poll()
    booth.meanwhile(lambda: booth.elsewhere().do(cast_vote, NOBODY, poll.id, rankings=["Ada"]))
    with pytest.raises(VotesBegun):
        await booth.do(change_poll, admin_of(poll), poll.id, version=1, candidates=["Ben", "Ada"])
    assert (await booth.do(one_poll, NOBODY, poll.id)).candidates == ["Ada", "Ben", "Cyd"]


async def test_edits_and_votes_at_once_leave_every_vote_with_whom_it_named(busy_booth):
    booth = busy_booth
    orders = [["Ada", "Ben", "Cyd"], ["Cyd", "Ada", "Ben"], ["Ben", "Cyd", "Ada"]]
    for _ in range(3):
        poll = await booth.poll(orders[0])
        edits = [
            booth.do(change_poll, admin_of(poll), poll.id, version=version + 1, candidates=orders[version % 3])
            for version in range(1, 3)
        ]
        first = booth.do(change_poll, admin_of(poll), poll.id, version=1, candidates=orders[1])
        _, refused = await outcomes(first, *(booth.cast(poll, "Ada", key=str(number)) for number in range(10)), *edits)
        assert {type(each) for each in refused} <= {VotesBegun, Conflict}
        now = await booth.do(one_poll, NOBODY, poll.id)
        assert await booth.counts(poll.id) == {(now.candidates.index("Ada") + 1,): 10}


# --- closing, reopening ----------------------------------------------------------------------------------------------


async def test_closing_what_is_closed_and_reopening_what_is_open_changes_nothing(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll(expires_at=LATER)
    assert (await booth.do(reopen_poll, admin_of(poll), poll.id)).version == 1
    closed = await booth.do(close_poll, admin_of(poll), poll.id)
    assert (closed.status, closed.closed_at, closed.version) == ("closed", NOW, 2)
    booth.clock.forward(minutes=1)
    assert await booth.do(close_poll, admin_of(poll), poll.id) == closed
    reopened = await booth.do(reopen_poll, admin_of(poll), poll.id)
    assert (reopened.status, reopened.closed_at, reopened.expires_at) == ("open", None, LATER)


async def test_a_poll_whose_time_is_over_is_reopened_without_an_end_or_with_another(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll(expires_at=LATER)
    booth.clock.forward(hours=2)
    assert (await booth.do(close_poll, admin_of(poll), poll.id)).version == 1
    assert (await booth.do(one_poll, NOBODY, poll.id)).status == "closed"
    reopened = await booth.do(reopen_poll, admin_of(poll), poll.id)
    assert (reopened.status, reopened.expires_at) == ("open", None)
    await booth.do(close_poll, admin_of(poll), poll.id)
    until = NOW + timedelta(days=1)
    assert (await booth.do(reopen_poll, admin_of(poll), poll.id, expires_at=until)).expires_at == until
    assert await wrong(booth.do(reopen_poll, admin_of(poll), poll.id, expires_at=NOW)) == ["expiresAt"]


async def test_of_many_who_close_and_reopen_at_once_none_is_refused(busy_booth):
    booth = busy_booth
    poll = await booth.poll()
    turns = [booth.do((close_poll, reopen_poll)[number % 2], admin_of(poll), poll.id) for number in range(8)]
    _, refused = await outcomes(*turns)
    assert refused == []


# --- duplicating, codes ----------------------------------------------------------------------------------------------


async def test_a_duplicate_is_a_new_poll_with_the_same_said_of_it(embedded_booth):
    booth = embedded_booth
    ada = await booth.person()
    poll = await booth.poll(
        description="x", candidate_descriptions={"Ben": "b"}, seats=2, max_rankings=2, results_visibility="afterVote"
    )
    await booth.cast(poll, "Ada")
    copy = await booth.do(duplicate_poll, VoterKeys(principal=ada.principal, admin_key=poll.admin_key), poll.id)
    assert (copy.id != poll.id, copy.admin_key != poll.admin_key, copy.version) == (True, True, 1)
    own = {"id", "admin_key", "lot_order", "created_at"}
    said, said_again = (
        {name: value for name, value in msgspec.structs.asdict(each).items() if name not in own}
        for each in (poll, copy)
    )
    assert said == said_again
    assert (await booth.do(poll_results, admin_of(copy), copy.id)).votes == 0
    assert [poll.id for poll in await booth.do(own_polls, ada)] == [copy.id]


async def test_a_duplicate_of_a_poll_that_is_over_has_no_end(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll(expires_at=LATER)
    assert (await booth.do(duplicate_poll, admin_of(poll), poll.id)).expires_at == LATER
    booth.clock.forward(hours=1)
    copy = await booth.do(duplicate_poll, admin_of(poll), poll.id)
    assert (copy.expires_at, copy.status) == (None, "open")


async def test_codes_are_made_by_the_hundred_and_only_where_they_are_asked_for(booth):
    poll, other = await booth.poll(voter_policy="codes"), await booth.poll()
    codes = (await booth.do(make_codes, admin_of(poll), poll.id, count=100)).codes
    assert len(set(codes)) == 100
    rows = [row for row in await booth.store.all(PollRow.of_poll(poll.id)) if isinstance(row, Code)]
    assert len(rows) == 100
    # 32 signs, and twelve of them in a code: 60 bits.
    assert len({sign for code in codes for sign in code.replace("-", "")}) >= 30
    assert {len(code.replace("-", "")) for code in codes} == {12}
    with pytest.raises(NoCodesAsked):
        await booth.do(make_codes, admin_of(other), other.id, count=1)
    for count in (0, 1001):
        assert await wrong(booth.do(make_codes, admin_of(poll), poll.id, count=count)) == ["count"]


# --- deleting --------------------------------------------------------------------------------------------------------


async def test_a_deleted_poll_is_gone_to_the_last_row_and_from_its_makers_list(booth):
    ada = await booth.person()
    other = await booth.poll()
    await booth.cast(other, "Ada")
    untouched = await booth.dump()
    poll = await booth.poll(by=ada, voter_policy="codes")
    codes = (await booth.do(make_codes, ada, poll.id, count=3)).codes
    for code in codes:
        await booth.do(cast_vote, VoterKeys(code=code), poll.id, rankings=["Ada"])
    await booth.do(poll_results, NOBODY, poll.id)
    # By its key, though not by whoever made it.
    await booth.do(delete_poll, admin_of(poll), poll.id)
    assert await booth.dump() == untouched
    for attempt in (booth.do(one_poll, NOBODY, poll.id), booth.do(delete_poll, ada, poll.id)):
        with pytest.raises(NoSuchPoll):
            await attempt


async def test_a_deletion_names_the_version_it_saw_if_it_wants_to(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    await booth.do(close_poll, admin_of(poll), poll.id)
    with pytest.raises(Conflict):
        await booth.do(delete_poll, admin_of(poll), poll.id, version=1)
    await booth.do(delete_poll, admin_of(poll), poll.id, version=2)
    assert await booth.dump() == {}


async def load(booth, poll, votes):
    """Votes as they are stored, without casting them one by one."""
    rows = [Vote(vote_id=UUID(int=number), poll_id=poll.id, rankings=["Ada"], voted_at=NOW) for number in range(votes)]
    await booth.store.write_each(map(put, rows))


async def test_of_a_poll_with_many_votes_the_rest_is_deleted_behind_the_call(embedded_booth, monkeypatch):
    booth = embedded_booth
    poll = await booth.poll()
    monkeypatch.setattr(deletion, "ROWS_PROMPTLY", 500)
    await load(booth, poll, 600)
    await booth.do(delete_poll, admin_of(poll), poll.id)
    with pytest.raises(NoSuchPoll):
        await booth.do(one_poll, NOBODY, poll.id)
    left = await booth.store.count(PollRow.of_poll(poll.id))
    assert left == 100
    (consumer,) = [consumer.bind(booth.store) for consumer in consumers_of(booth.polls.core)]
    running = asyncio.create_task(consumer.run())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await booth.dump():  # noqa: ASYNC110 - another task empties it
                await asyncio.sleep(0.02)
    finally:
        await stopped(running)


async def test_a_deletion_that_was_interrupted_is_found_and_carried_to_its_end(embedded_booth):
    booth = embedded_booth
    poll = await booth.poll()
    await load(booth, poll, 600)
    write_each = booth.store.write_each
    left = 3

    async def failing(operations):
        nonlocal left
        left -= 1
        if left < 0:
            raise Unavailable("the engine is gone")
        await write_each(operations)

    booth.store.write_each = failing
    # The poll is deleted; what is left of it is not its caller's business.
    await booth.do(delete_poll, admin_of(poll), poll.id)
    booth.store.write_each = write_each
    assert 0 < await booth.store.count(PollRow.of_poll(poll.id)) < 600
    assert [each.poll_id for each in await booth.store.all(Deletion.all_under_way())] == [poll.id]
    await Deletions(booth.store).resuming().completed(booth.store)
    assert await booth.dump() == {}
    await Deletions(booth.store).rows.of(PollKey(poll.id)).completed(booth.store)
    assert await booth.dump() == {}


async def test_whoever_votes_while_a_poll_is_deleted_leaves_nothing_behind(busy_booth):
    booth = busy_booth
    poll = await booth.poll()

    async def deleting():
        await asyncio.sleep(0.005)
        await booth.do(delete_poll, admin_of(poll), poll.id)

    _, refused = await outcomes(
        *(booth.cast(poll, "Ada", key=str(number)) for number in range(booth.many // 2)),
        deleting(),
        booth.do(poll_results, NOBODY, poll.id),
    )
    assert {type(each) for each in refused} <= {NoSuchPoll}
    await Deletions(booth.store).rows.of(PollKey(poll.id)).completed(booth.store)
    assert await booth.store.all(CountRow.of_poll(poll.id)) == []
    assert await booth.dump() == {}
