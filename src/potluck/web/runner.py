"""The runner: the steps of every write, for every rule of every app.

    admit -> replay a stored answer -> decode -> rate limit and storage quota -> the thing of the path -> its version
          -> the rule -> one transaction -> the answer

A rule that counts attempts, such as signing in, runs before a stored answer is looked up.

A rule only reads, and returns what to write. So the access check and the answer stored for replays go into the same
transaction, the rule is run again after a conflict, and a refused write becomes the right problem: here, once.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from potluck.people.errors import Throttled
from potluck.people.idempotency import IdempotencyKey, StoredAnswer
from potluck.table import Entity
from potluck.validation.errors import Refusal
from potluck.web.access import Access, Visitor, read_together
from potluck.web.commits import ActionResult, Committer, show
from potluck.web.declarations import Action, Declared
from potluck.web.errors import Conflict, NotFound, NotSignedIn, ProblemError, is_guess
from potluck.web.inputs import FormOf, Input, Versioned
from potluck.web.rate_limits import GUESSES
from potluck.web.refused_values import named_by_field
from potluck.web.writes import Writes

if TYPE_CHECKING:
    from potluck.web.app import Core

log = logging.getLogger(__name__)


# Structs, and not dataclasses: each is made with every write, and a frozen dataclass takes five times as long.
class Sent(Struct, frozen=True):
    """What the caller sent: the input, and the version they saw, if they named one."""

    input: Input | None = None
    version: int | None = None


Decode = Callable[[], Sent | Awaitable[Sent]]
"""Decodes the request, only once the caller is admitted: a stranger gets 404 whatever they send."""


class Runner:
    """Runs the rules of one app. The API and pages differ only in what they decode and how they present the outcome."""

    def __init__(self, core: Core, context: Any = None) -> None:
        self.core = core
        self.context = context
        self._store = core.store
        self._answers = core.people.answers

    async def admit(
        self,
        declared: Declared,
        visitor: Visitor,
        ids: Mapping[str, Any],
        *,
        must_exist: bool = True,
        again: bool = False,
    ) -> tuple[Access, Any]:
        """The admitted caller, and the thing that the path names, read together; NotFound for one they may not see.

        One that does not exist is None, or NotFound if it `must_exist`. `again`: they were admitted before, so that
        what is gone meanwhile was no guess.
        """
        access = declared.access
        if access.needs_principal and visitor.principal is None:
            raise NotSignedIn
        at = access(self.core, self.context, visitor, ids)
        refs = at.reads()
        subject = declared.subject
        one = subject.one if declared.on_thing else None
        # Some things can only be located once the caller is admitted.
        read_later = one is not None and any(name in access.finds_by for name in subject.names)
        if one is not None and not read_later:
            refs = [*refs, one(*(ids[name] for name in subject.names))]
        rows: Sequence[Any] = await read_together(self._store, refs)
        thing = None
        if one is not None and not read_later:
            *rows, thing = rows
        await (at.admit(*rows) if again or not visitor.limited else at.admit_or_count(*rows))
        if one is not None and read_later:
            thing = await self._store.get(one(*(getattr(at, name) for name in subject.names)))
        elif declared.on_thing and one is None:
            thing = at.thing
        if thing is not None and not at.sees(thing):
            raise NotFound
        if declared.on_thing and thing is None and must_exist:
            raise NotFound
        return at, thing

    async def perform(
        self,
        action: Action,
        visitor: Visitor,
        ids: Mapping[str, Any],
        decode: Decode = Sent,
        key: IdempotencyKey | None = None,
    ) -> ActionResult:
        """Run the rule and commit its writes, once for each Idempotency-Key."""
        if not action.serialized:
            return await self._perform(action, visitor, ids, decode, key)
        # By the parameters in its own address, so that the API and pages share their turns.
        about = {name: ids[name] for name in action.path_names if name in ids}
        async with self.core.turns.turn(action.rule, about):
            return await self._perform(action, visitor, ids, decode, key)

    async def _perform(
        self, action: Action, visitor: Visitor, ids: Mapping[str, Any], decode: Decode, key: IdempotencyKey | None
    ) -> ActionResult:
        sent: Sent | None = None
        # Replaying a key tells whether the body is the same as before, which could confirm a guessed password: where
        # attempts are counted, the rule counts this one first.
        look = key is not None and not action.counts_attempts
        async for attempt in self._store.attempts(action.rule.__name__):
            if look and key is not None:
                at, thing, stored = await self._earlier(action, visitor, ids, key)
                if stored is not None:
                    return ActionResult(at, None, None, stored)
                assert at is not None
            else:
                at, thing = await self.admit(action, visitor, ids, must_exist=False)
            look = True
            at.attempt = attempt
            if sent is None:
                decoding = decode()
                sent = decoding if isinstance(decoding, Sent) else await decoding
                if isinstance(sent.input, FormOf) and action.form is not None and action.form.takes is type(sent.input):
                    sent = Sent(sent.input.as_input(at), sent.version)
                self._must_be_allowed(action, visitor, sent.input)
            try:
                done = await self._attempt(action, at, thing, sent, key)
            except Throttled:
                raise
            except Exception as refusal:
                if visitor.limited and is_guess(refusal):
                    self.core.rate_limiter.take(GUESSES, visitor)
                # An earlier request with the same key may have succeeded meanwhile, and caused this refusal.
                if key is not None:
                    now, _, stored = await self._earlier(action, visitor, ids, key)
                    if stored is not None:
                        return ActionResult(now, None, None, stored)
                if isinstance(refusal, ProblemError):
                    await self._show_members(action, at, refusal)
                raise
            if done is not None:
                return done
        raise AssertionError("attempts end by raising")

    def _must_be_allowed(self, action: Action, visitor: Visitor, sent: Input | None) -> None:
        """Throttled if the caller is over the rate limit, NoRoom if the store is too full."""
        if not visitor.limited:
            return
        if action.counts:
            self.core.rate_limiter.take(action.rate_limit, visitor, sent)
        if not action.frees_room:
            self.core.storage_quota.must_have_room(stranger=visitor.principal is None)

    async def _earlier(
        self, action: Action, visitor: Visitor, ids: Mapping[str, Any], key: IdempotencyKey
    ) -> tuple[Access | None, Any, StoredAnswer | None]:
        """The admitted caller, the thing of the path, and the answer stored under this key, if there is one.

        A caller who is no longer admitted gets only an answer without a body, which says that it was done.
        """
        try:
            at, thing = await self.admit(action, visitor, ids, must_exist=False)
        except (ProblemError, Throttled):
            # After leaving or deleting a place, the caller is not admitted to it; that it was done reveals nothing.
            if (stored := await self._stored_without_body(key)) is not None:
                return None, None, stored
            raise
        return at, thing, await self._answers.find(key)

    async def _stored_without_body(self, key: IdempotencyKey) -> StoredAnswer | None:
        """The stored answer, if it has no body; errors that would say more (KeyReused, AlreadyDone) are dropped."""
        with suppress(Refusal):
            stored = await self._answers.find(key)
            return stored if stored is not None and not stored.body else None
        return None

    async def _attempt(
        self, action: Action, at: Access, thing: Any, sent: Sent, key: IdempotencyKey | None
    ) -> ActionResult | None:
        """One attempt; None if what the rule read has changed meanwhile, and it should run again."""
        if action.on_thing:
            if thing is None:
                raise NotFound
            if sent.version is not None and _outdated(thing, sent.version, sent.input):
                raise Conflict(current=thing)
        committer = at.committer = Committer(self.core, action, thing, sent.version, key)
        at.seen = sent.version
        arguments = [thing] if action.on_thing else []
        if sent.input is not None:
            arguments.append(sent.input)
        with named_by_field(action, sent.input):
            writes: Writes[Any] = await action.rule(at, *arguments)
            # A rule of several steps may have committed the last one itself.
            if writes.result is None and not await committer.commit(at, writes):
                return None
        if writes.after is not None:
            try:
                await writes.after()
            except Exception:
                # The write is committed, and an error would say that it is not.
                log.warning("what follows %s failed", action.name, exc_info=True)
        return writes.result

    async def _show_members(self, declared: Declared, at: Access, refusal: ProblemError) -> None:
        """Replace entities among the members of a problem by their views; drop those that have none here."""
        subject = declared.subject
        shown = subject.view_for(type(at)).entities if subject.views else ()
        for name, member in list(refusal.members.items()):
            if isinstance(member, Entity):
                if type(member) in shown:
                    refusal.members[name] = await show(declared, at, member)
                else:
                    del refusal.members[name]


def _outdated(thing: Any, version: int, change: Input | None) -> bool:
    return change.outdated(thing, version) if isinstance(change, Versioned) else thing.version != version
