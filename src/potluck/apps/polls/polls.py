"""Polls: creating, changing until the first vote, closing, reopening, copying and deleting one, and its codes."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.polls.access import HOME, POLL, PollAdmin, PollCopier, PollMaker, ToPoll, WrongKey
from potluck.apps.polls.candidates import described, drawn, look_alikes
from potluck.apps.polls.deletion import Deletions, deleting
from potluck.apps.polls.entities import SHARDS, Code, CreatedPoll, Deletion, Poll, Shard
from potluck.apps.polls.fields import (
    MOST_CODES_OF_POLL,
    SEATS_MESSAGE,
    AboutCandidates,
    Candidates,
    CodeCount,
    Description,
    MaxRankings,
    Method,
    MethodName,
    Policy,
    ResultsVisibility,
    Seats,
    Title,
    Visibility,
    VoterPolicy,
    tidy,
)
from potluck.apps.polls.keys import new_admin_key, new_code
from potluck.apps.polls.shards import refuse_readers_before, seal
from potluck.people import TooMany, hash_of
from potluck.store import Store
from potluck.table import Condition, Operation, WriteRefused, absent, check, put, the, update
from potluck.validation import FieldError, ValidationError
from potluck.web import (
    UNSET,
    Actions,
    Edit,
    Input,
    New,
    NotFound,
    PageForm,
    ProblemError,
    RateLimit,
    References,
    SignedIn,
    Step,
    Unset,
    View,
    Writes,
    _,
    computed,
    or_raise,
    or_retry,
)

# A transaction may have 100 actions. Besides the codes there are the poll, and up to three for the stored answer.
CODES_AT_ONCE = 90
# Per hour for a client without an account: plenty for an evening, but not enough to fill the store.
POLLS = RateLimit("polls", 100)
# Each change rewrites the whole poll and puts its old and new image into the stream: up to 200 KB.
CHANGES = RateLimit("changes of polls", 200)
CODES = RateLimit("codes", 5_000, weight=lambda new: new.count)


class VotesBegun(
    ProblemError,
    slug="votes-begun",
    title="Voting has started",
    remedy="Close the poll, or duplicate it and change the copy.",
    detail="There are votes already, so the poll can no longer be changed",
):
    """A change could alter the meaning of a vote, so a poll cannot be changed after the first vote."""


class NoCodesAsked(
    ProblemError,
    slug="no-codes-asked",
    title="This poll uses no codes",
    remedy="Before the first vote, the poll can be changed to require codes.",
    detail="This poll uses no codes",
):
    """Anyone, or anyone who is signed in, may vote in this poll, so a code would have no effect."""


# --- what is shown ----------------------------------------------------------------------------------------------------


class AsOf(Struct, frozen=True):
    """What a view needs besides the poll: the time, which decides its status, and the key of a new poll."""

    now: datetime
    admin_key: str = ""

    same_for_all = True

    @classmethod
    async def load(cls, at: Any, _: Any) -> "AsOf":
        return cls(at.now)


class PollView(View[Poll]):
    """A poll as anyone with its link sees it."""

    title: str
    description: str | None
    candidates: list[str]
    created_at: datetime
    expires_at: datetime | None
    closed_at: datetime | None
    """When its creator closed it; null for a poll that expired."""
    voter_policy: VoterPolicy
    results_visibility: ResultsVisibility
    max_rankings: int | None
    method: Method
    seats: int
    version: int

    @computed
    def id(poll: Poll) -> UUID:
        return poll.poll_id

    @computed
    def status(poll: Poll, as_of: AsOf) -> Literal["open", "closed"]:
        return "open" if poll.is_open(as_of.now) else "closed"

    @computed
    def candidate_descriptions(poll: Poll) -> dict[str, str]:
        return poll.candidate_descriptions or {}

    @computed
    def lot_order(poll: Poll) -> list[str]:
        """Who wins a tie that nothing else breaks, most favoured first; drawn before the first vote. Empty if no lots
        were drawn."""
        return poll.names(poll.lot_order)


class PollMade(PollView):
    """A new poll, with its key, which is never shown again."""

    @computed
    def admin_key(poll: Poll, as_of: AsOf) -> str:
        return as_of.admin_key


class CodesMade(Struct, rename="camel", frozen=True, kw_only=True):
    """Codes to hand out, which are never shown again."""

    codes: list[str]


def view_of(poll: Poll, now: datetime) -> PollView:
    return PollView.show(poll, AsOf(now))


# --- what is sent -----------------------------------------------------------------------------------------------------


class NewPoll(New[Poll]):
    """A question, and the candidates to rank."""

    title: Title
    candidates: Candidates
    description: Description | None = None
    candidate_descriptions: AboutCandidates | None = None
    """Descriptions of candidates, by name."""
    expires_at: datetime | None = None
    """Votes are accepted strictly before this time."""
    voter_policy: Policy | Unset = UNSET
    """One vote per `voterKey`, per code, or per account."""
    results_visibility: Visibility | Unset = UNSET
    """Who sees the results while the poll is open."""
    max_rankings: MaxRankings | None = None
    method: MethodName | Unset = UNSET
    """The method that results are counted by; by default `irv`, or `stv` for several seats."""
    seats: Seats | Unset = UNSET


class PollChange(Edit[Poll]):
    """The settings to change; possible until the first vote."""

    title: Title | Unset = UNSET
    description: Description | Unset | None = UNSET
    candidates: Candidates | Unset = UNSET
    candidate_descriptions: AboutCandidates | Unset | None = UNSET
    expires_at: datetime | Unset | None = UNSET
    voter_policy: Policy | Unset = UNSET
    results_visibility: Visibility | Unset = UNSET
    max_rankings: MaxRankings | Unset | None = UNSET
    method: MethodName | Unset = UNSET
    seats: Seats | Unset = UNSET


class Reopening(Input):
    """A new end for the poll, if it is to change."""

    expires_at: datetime | Unset | None = UNSET
    """Votes are accepted strictly before this time. If omitted, the end stays unless it has passed; null removes it."""


class NewCodes(Input):
    count: CodeCount


SETTINGS = NewPoll.__struct_fields__


def settings_in(sent: NewPoll | PollChange) -> dict[str, Any]:
    """The settings in an input, by name."""
    return {name: value for name in SETTINGS if (value := getattr(sent, name)) is not UNSET}


def merge_settings(
    values: Mapping[str, Any], now: datetime, poll: Poll | None = None
) -> tuple[dict[str, Any], list[FieldError]]:
    """A poll's settings as they are stored, from the input and the poll as it is; and the errors in them."""
    settings = {} if poll is None else {name: getattr(poll, name) for name in SETTINGS}
    settings |= values
    names = settings["candidates"] = [tidy(name) for name in settings.get("candidates", ())]
    errors = look_alikes(names)
    if names and not errors:
        descriptions, only_candidates = described(names, settings.get("candidate_descriptions") or {})
        settings["candidate_descriptions"] = descriptions
        if not only_candidates and "candidate_descriptions" in values:
            errors.append(FieldError("candidateDescriptions", "Only candidates can be described, each by its name"))
    if values.get("expires_at") is not None:
        settings["expires_at"], end_errors = _end(values["expires_at"], now)
        errors += end_errors
    seats = settings.get("seats", 1)
    if names and seats > len(names):
        errors.append(FieldError("seats", SEATS_MESSAGE))
    if seats > 1 and settings.get("method", "irv") == "irv":
        if "method" in values:
            errors.append(FieldError("method", "irv elects one; for more seats there are stv and scottish-stv"))
        settings["method"] = "stv"
    return settings, errors


def _end(expires_at: datetime, now: datetime) -> tuple[datetime, list[FieldError]]:
    """A poll's end, in UTC to the second; and the error if it is not in the future."""
    to_the_second = expires_at.astimezone(UTC).replace(microsecond=0)
    return to_the_second, [FieldError("expiresAt", "expiresAt must be in the future")] if to_the_second <= now else []


def _validated(values: Mapping[str, Any], now: datetime, poll: Poll | None = None) -> dict[str, Any]:
    settings, errors = merge_settings(values, now, poll)
    if errors:
        raise ValidationError(*errors)
    return settings


# --- what is written, for every app that has polls --------------------------------------------------------------------


def created(
    poll_id: UUID,
    values: Mapping[str, Any],
    creator_id: UUID | None,
    now: datetime,
    random: Random,
    *,
    short_id: str | None = None,
) -> Writes[PollMade]:
    """A new poll, with its lots drawn; `short_id` is the shareable that it belongs to."""
    settings = _validated(values, now)
    admin_key = new_admin_key(random)
    poll = Poll(
        poll_id=poll_id,
        created_at=now,
        lot_order=drawn(len(settings["candidates"]), random),
        admin_key_hash=hash_of(admin_key),
        creator_id=creator_id,
        short_id=short_id,
        **settings,
    )
    operations: list[Operation] = [put(poll, when=absent)]
    if creator_id is not None:
        operations.append(put(CreatedPoll(creator_id=creator_id, created_at=now, poll_id=poll.poll_id), when=absent))
    view = PollMade.show(poll, AsOf(now, admin_key))
    return Writes(view, *operations, made=poll.poll_id, version=poll.version)


def copied(
    copy_id: UUID,
    poll: Poll,
    creator_id: UUID | None,
    now: datetime,
    random: Random,
    *,
    short_id: str | None = None,
    **changes: Any,
) -> Writes[PollMade]:
    """An open copy of a poll, without its votes and codes, with lots and a key of its own."""
    values = {name: getattr(poll, name) for name in SETTINGS} | changes
    if poll.expires_at is not None and values["expires_at"] == poll.expires_at <= now:
        values["expires_at"] = None
    return created(copy_id, values, creator_id, now, random, short_id=short_id)


def following(poll: Poll, title: str, description: str | None, expires_at: datetime, store: Store) -> Writes[Poll]:
    """The poll, updated to match its shareable; allowed even after the first vote."""
    after, operations = _with(poll, {"title": title, "description": description, "expires_at": expires_at})
    if poll.expires_at is not None and poll.expires_at <= expires_at:
        return Writes(after, *map(or_retry, operations))
    # Those who read the poll before could vote until its former end.
    return Writes(after, *map(or_retry, operations), then=lambda: refuse_readers_before(store, after))


def changed(poll: Poll, change: PollChange, now: datetime, random: Random) -> Writes[Poll]:
    """The poll with other settings; refused after the first vote. For other candidates, new lots are drawn."""
    settings = _validated(settings_in(change), now, poll)
    if settings["candidates"] != poll.candidates:
        settings["lot_order"] = drawn(len(settings["candidates"]), random)
    after, operations = _with(poll, settings, when=the(Poll.shards) == 0)
    if not operations:
        return Writes(poll)
    if poll.shards:
        raise VotesBegun
    # The first vote writes the poll's row, and checks its version: the later of the two is refused. Votes from before
    # that was so have left one of these rows.
    no_shards = (check(Shard.one(poll.poll_id, shard), when=absent) for shard in range(SHARDS))
    return Writes(
        after,
        *(or_raise(operation, _votes_begun) for operation in operations),
        *(or_raise(no_shard, VotesBegun) for no_shard in no_shards),
    )


async def _votes_begun(refusal: WriteRefused) -> Exception | None:
    return VotesBegun() if isinstance(refusal.current, Poll) and refusal.current.shards else None


def closed(poll: Poll, now: datetime, store: Store) -> Writes[Poll]:
    """The poll, closed; a closed poll stays as it is. No vote is counted once this was answered."""
    after, operations = _with(poll, {"closed_at": now} if poll.is_open(now) else {})
    # Not in one transaction: while votes come in, one that writes all shards would never find them free.
    return Writes(after, *operations, then=lambda: seal(store, after))


def reopened(poll: Poll, until: datetime | Unset | None, now: datetime) -> Writes[Poll]:
    """The poll, open until this time; if UNSET, until its present end, unless that has passed."""
    end = poll.expires_at if until is UNSET else until
    if until is UNSET and end is not None and end <= now:
        end = None
    elif until is not UNSET and until is not None:
        end, errors = _end(until, now)
        if errors:
            raise ValidationError(*errors)
    after, operations = _with(poll, {"closed_at": None, "expires_at": end})
    return Writes(after, *operations)


def _with(poll: Poll, values: Mapping[str, Any], when: Condition | None = None) -> tuple[Poll, list[Operation]]:
    """The poll with these values, and the write; no write if it has them already."""
    new = {name: value for name, value in values.items() if value != getattr(poll, name)}
    if not new:
        return poll, []
    write = update(poll, *(the(getattr(Poll, name)).becomes(value) for name, value in new.items()), when=when)
    return replace(poll, **new, version=poll.version + 1), [write]


# --- the actions ------------------------------------------------------------------------------------------------------

TO_CLOSE = PageForm(then=f"{POLL}/manage", flash=_("The poll is closed, and its results are final."))

polls = Actions(ToPoll, Poll.one, PollView, api="/polls", page=HOME, tag="Polls")


@polls.create(secret=True, rate_limit=POLLS)
async def create_poll(at: PollMaker, new: NewPoll) -> Writes[PollMade]:
    """Create a poll; no account is needed. Its `adminKey` is returned only this once."""
    return created(at.new_id(), settings_in(new), _user_id(at), at.now, at.polls.random)


@polls.list()
def own_polls(at: SignedIn) -> References[Poll]:
    """List the polls you created while signed in, newest first."""
    return own_polls_of(at.store, at.principal.user_id)


def own_polls_of(store: Store, user_id: UUID) -> References[Poll]:
    async def get(created: Any) -> list[Poll]:
        return await served_polls(store, [row.poll_id for row in created])

    return References(CreatedPoll.of_creator(user_id), get)


async def served_polls(store: Store, poll_ids: Iterable[UUID]) -> list[Poll]:
    """The polls with these ids that still exist and do not belong to a shareable."""
    polls = await store.get_many([Poll.one(poll_id) for poll_id in poll_ids])
    return [poll for poll in polls if poll is not None and poll.short_id is None]


@polls.read()
async def one_poll(at: ToPoll, poll: Poll) -> Poll:
    """Get a poll, without an account: the question, the candidates, who may vote, and the order of the lots."""
    return poll


@polls.change(WrongKey, VotesBegun, rate_limit=CHANGES)
async def change_poll(at: PollAdmin, poll: Poll, change: PollChange) -> Writes[Poll]:
    """Edit a poll before the first vote. If the candidates change, the lots are drawn again."""
    return changed(poll, change, at.now, at.polls.random)


@polls.delete("", WrongKey)
async def delete_poll(at: PollAdmin, poll: Poll) -> Writes[None]:
    """Delete a poll with all its votes."""
    now = at.now
    deletion = Deletion(poll_id=poll.poll_id, deleted_at=now)
    # The call waits for a few thousand rows; the consumer deletes the rest.
    return Writes(None, *deleting(poll, now), after=lambda: Deletions(at.store).begin(deletion))


@polls.action("POST", "/close", WrongKey, form=TO_CLOSE, rate_limit=CHANGES)
async def close_poll(at: PollAdmin, poll: Poll) -> Writes[Poll]:
    """Close a poll: it accepts no more votes, and its results are final. A closed poll stays as it is."""
    return closed(poll, at.now, at.store)


@polls.action("POST", "/reopen", WrongKey, input_optional=True, rate_limit=CHANGES)
async def reopen_poll(at: PollAdmin, poll: Poll, reopening: Reopening) -> Writes[Poll]:
    """Reopen a poll, with a new end if one is given. An end that has passed is removed."""
    return reopened(poll, reopening.expires_at, at.now)


@polls.action("POST", "/duplicate", WrongKey, status=201, secret=True, rate_limit=POLLS)
async def duplicate_poll(at: PollCopier, poll: Poll) -> Writes[PollMade]:
    """Copy a poll: the copy is open, has no votes or codes, and has lots and an `adminKey` of its own."""
    return copied(at.new_id(), poll, _user_id(at), at.now, at.polls.random)


@polls.action(
    "POST", "/codes", WrongKey, NoCodesAsked, TooMany, status=201, secret=True, rate_limit=CODES, serialized=True
)
async def make_codes(at: PollAdmin, poll: Poll, new: NewCodes) -> Writes[CodesMade]:
    """Create codes to hand out, each good for one vote; a poll has at most 10,000. They are returned only this once."""
    if poll.voter_policy != "codes":
        raise NoCodesAsked
    codes = [new_code(at.polls.random) for _ in range(new.count)]
    hashes = [at.polls.voters.code_hash(poll.poll_id, code) for code in codes]
    rows = [put(Code(poll_id=poll.poll_id, hash=hashed, created_at=at.now), when=absent) for hashed in hashes]
    uses_codes = the(Poll.voter_policy) == "codes"
    # The first transaction counts all codes, so that a request over the limit is refused before any code is stored.
    of_poll: Operation = update(
        Poll.one(poll.poll_id),
        the(Poll.codes).add(len(rows)),
        when=uses_codes & (the(Poll.codes) <= MOST_CODES_OF_POLL - len(rows)),
        keep_version=True,
    )
    *parts, last = [rows[start : start + CODES_AT_ONCE] for start in range(0, len(rows), CODES_AT_ONCE)]
    for part in parts:
        await at.commit(Step(or_raise(of_poll, _no_more_codes), *part))
        of_poll = check(Poll.one(poll.poll_id), when=uses_codes)
    return Writes(CodesMade(codes=codes), or_raise(of_poll, _no_more_codes), *last, made=poll.poll_id)


async def _no_more_codes(refusal: WriteRefused) -> Exception:
    if refusal.current is None:
        return NotFound()
    full = getattr(refusal.current, "voter_policy", None) == "codes"
    return TooMany("codes in a poll", MOST_CODES_OF_POLL) if full else NoCodesAsked()


def _user_id(at: PollMaker | PollCopier) -> UUID | None:
    return None if at.principal is None else at.principal.user_id
