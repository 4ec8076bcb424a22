"""Commits: the writes of a request become one transaction, with the checks of its access and its answer for repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from potluck.people.errors import AccountGone
from potluck.people.idempotency import IdempotencyKey, StoredAnswer
from potluck.table import Changed, Entity, NotUnique, WriteRefused
from potluck.table.errors import Contended
from potluck.table.operations import Check, Operation
from potluck.validation.encoding import encode
from potluck.web.declarations import Action, Declared
from potluck.web.errors import Conflict, NotFound
from potluck.web.versions import etag, tag_of
from potluck.web.writes import Outcome, Step, Writes

if TYPE_CHECKING:
    from potluck.web.access import Access
    from potluck.web.app import Core


class ActionResult(Struct, frozen=True):
    """The outcome of an action: performed now, or replayed for a repeated request."""

    caller: Access | None
    """The admitted caller; None for a replay to one who is no longer admitted."""
    answer: Any
    """What the rule answered; None for a replay."""
    view: Any
    """The answer as the caller sees it."""
    response: StoredAnswer
    """The response, as it is sent and as it is stored for replays."""


class Committer:
    """Commits what a rule writes for one request: what it returns, and the steps before that."""

    __slots__ = ("_action", "_core", "_key", "_thing", "_version")

    def __init__(self, core: Core, action: Action, thing: Any, version: int | None, key: IdempotencyKey | None) -> None:
        self._core = core
        self._action = action
        self._thing = thing
        self._version = version
        self._key = key

    async def commit(self, at: Access, writes: Writes[Any]) -> bool:
        """True once everything is committed; False if the rule should read again.

        With the last writes of a request, its answer is stored for repeats.
        """
        result: ActionResult | None = None
        storing: list[Operation] = []
        if not isinstance(writes, Step):
            view = await show(self._action, at, writes.answer)
            result = ActionResult(at, writes.answer, view, _response(self._action, writes, view))
            storing = [] if self._key is None else self._core.people.answers.storing(self._key, result.response)
        if writes.then is not None:
            if writes.operations and not await self._transact(at, writes, at.checks(), []):
                return False
            await writes.then()
            # The writes are committed, and may have ended the caller's own access.
            if storing and not await self._transact(at, Step(), [], storing):
                return False
        elif (writes.operations or storing) and not await self._transact(at, writes, at.checks(), storing):
            return False
        writes.result = result
        return True

    async def _transact(
        self, at: Access, writes: Writes[Any], checks: Sequence[Operation], storing: Sequence[Operation]
    ) -> bool:
        together = _Together(checks, writes.operations, storing)
        try:
            await self._core.store.transact(*together.operations, spread=together.spread(writes.outcomes))
        except Contended as contention:
            for operation in contention.operations:
                outcome = writes.outcomes[id(together.original(operation))]
                assert outcome.contended is not None
                outcome.contended()
            return False
        except WriteRefused as refusal:
            refused = together.original(refusal.operation)
            if together.carries_check(refusal.operation):
                at.refuse(refusal)
                if refused is None:
                    # The row admits the caller after all: it has changed back, or only its version differs.
                    return False
            if refused is None:
                raise
            if refused in storing:
                if isinstance(refused, Check):
                    raise AccountGone from refusal
                return False
            await self._explain(at, writes, refused, refusal)
            return False
        return True

    async def _explain(self, at: Access, writes: Writes[Any], refused: Operation, refusal: WriteRefused) -> None:
        """Raise the problem that this refused write means; return if the rule should run again."""
        outcome = writes.outcomes.get(id(refused))
        if outcome is not None:
            problem = outcome.refused
            if callable(problem) and not isinstance(problem, type):
                problem = await problem(refusal)
            if problem is not None:
                raise problem from refusal
            return
        # A step may write the thing of the path without having seen its latest version.
        thing = None if isinstance(writes, Step) else self._thing
        if thing is None or refused.seen is not thing or isinstance(refusal, NotUnique):
            raise refusal
        if refusal.current is None or not at.sees(refusal.current):
            raise NotFound from refusal
        # A value that the write relied on, such as a copied name, can change without the version: it is read again.
        if self._version is not None and not isinstance(refusal, Changed):
            raise Conflict(current=refusal.current) from refusal


class _Together:
    """The operations of one transaction. The access checks come first, so that a caller who lost access learns nothing
    about the other rows; a row that is both checked and written has the check in the condition of its write."""

    def __init__(self, checks: Sequence[Operation], writes: Sequence[Operation], storing: Sequence[Operation]) -> None:
        self._originals: dict[int, Operation] = {}
        self._carriers: set[int] = set()
        written = {write.row: write for write in writes}
        first: list[Operation] = []
        merged: dict[int, Operation] = {}
        for check in checks:
            write = written.get(check.row)
            if write is None:
                first.append(check)
                self._carriers.add(id(check))
            else:
                merged[id(write)] = merged.get(id(write), write).and_when(check.when)
        rest: list[Operation] = []
        for write in writes:
            sent = merged.get(id(write), write)
            if sent is not write:
                self._carriers.add(id(sent))
            self._originals[id(sent)] = write
            rest.append(sent)
        rows = {operation.row for operation in (*first, *rest)} if storing else ()
        for operation in storing:
            # A transaction can name a row only once, and the account may be checked already.
            if not (isinstance(operation, Check) and operation.row in rows):
                self._originals[id(operation)] = operation
                rest.append(operation)
        self.operations = [*first, *rest]

    def original(self, operation: Any) -> Operation | None:
        """The write as the rule returned it; None for an access check."""
        return self._originals.get(id(operation))

    def spread(self, outcomes: Mapping[int, Outcome]) -> Sequence[Operation]:
        """The operations whose rows may be others in the next run, as they are sent."""
        if not any(outcome.contended is not None for outcome in outcomes.values()):
            return ()
        sent = ((operation, outcomes.get(id(self.original(operation)))) for operation in self.operations)
        return [operation for operation, outcome in sent if outcome is not None and outcome.contended is not None]

    def carries_check(self, operation: Any) -> bool:
        return id(operation) in self._carriers


async def show(declared: Declared, at: Access, answer: Any) -> Any:
    """The answer as the caller is shown it: entities by their view, anything else as it is."""
    if isinstance(answer, Entity):
        return (await declared.subject.view_for(type(at)).show_many(at, [answer]))[0]
    if isinstance(answer, list) and answer and isinstance(answer[0], Entity):
        return {"items": await declared.subject.view_for(type(at)).show_many(at, answer)}
    return {"items": []} if answer == [] else answer


def _response(action: Action, writes: Writes[Any], view: Any) -> StoredAnswer:
    """The response to these writes, as it is sent and stored."""
    answer, made_id, headers = writes.answer, writes.made, dict(writes.headers)
    body = b"" if view is None else encode(view)
    if isinstance(answer, Entity):
        if made_id is None and action.subject.id is not None:
            made_id = getattr(answer, action.subject.id, None)
        headers.setdefault("etag", tag(action, answer, body))
    return StoredAnswer(
        status=action.status,
        body=body,
        headers=headers,
        made=None if made_id is None else str(made_id),
        secret=view is not None and (action.secret is True or writes.secret),
        of=writes.of,
    )


def tag(declared: Declared, entity: Entity, body: bytes) -> str:
    """The ETag: the version, where the answer is one row and the same for every caller; else a hash of the body."""
    plan = declared.subject.view_for(declared.access)
    version = getattr(entity, "version", None)
    return etag(version) if version is not None and plan.same_for_all else tag_of(body)
