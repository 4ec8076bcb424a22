"""Rules called from code instead of by a request: for demos, tests and benchmarks. Access and transactions are the
same; rate limits and the storage quota do not apply.

direct = Direct(core, [stores], context)
store = await direct.do(add_store, ada, NewStore(name="Grocer"), family_id=family_id)
found = await direct.list(all_stores, ada, family_id=family_id)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from potluck.people.authentication import Principal
from potluck.people.idempotency import IdempotencyKey
from potluck.web.access import SignedIn, Visitor
from potluck.web.actions import Actions
from potluck.web.api import shown_whole
from potluck.web.commits import show
from potluck.web.declarations import Action, Declared, Listing, Read
from potluck.web.inputs import Input
from potluck.web.invitations import Join, accepted
from potluck.web.runner import Runner, Sent
from potluck.web.writes import Writes

if TYPE_CHECKING:
    from potluck.web.app import Core


class Direct:
    """Calls the rules of some subjects on behalf of a person; answers are those of the API, before JSON."""

    def __init__(self, core: Core, subjects: Sequence[Actions[Any]], context: Any = None) -> None:
        self.runner = Runner(core, context)
        # A rule may be declared as a form of a page as well; this takes the declaration for the API.
        self._declared = {
            declaration.rule: declaration
            for subject in subjects
            for declaration in subject.declared
            if declaration.path is not None or (isinstance(declaration, Action) and declaration.form is None)
        }

    def declared(self, rule: Callable[..., Any]) -> Declared:
        """The declaration of this rule."""
        return self._declared[rule]

    async def do(
        self,
        rule: Callable[..., Any],
        by: Principal | Visitor | None,
        input: Input | None = None,
        *,
        version: int | None = None,
        key: IdempotencyKey | None = None,
        **ids: Any,
    ) -> Any:
        """Perform an action; returns its answer as a caller is shown it. `version` is the one that `by` saw."""
        action = self._declared[rule]
        assert isinstance(action, Action)
        done = await self.runner.perform(action, _visitor(by), ids, lambda: Sent(input, version), key)
        return done.view

    async def join(self, by: Principal, secret: str, app: str, join: Join) -> Any:
        """Join by an invitation of this app; returns what `join` answered."""
        joining: Actions[Any] = Actions(SignedIn, page="/invitation")

        @joining.form("", then="/")
        async def accept(at: SignedIn) -> Writes[Struct]:
            return await accepted(at, secret, {app: join}.get)

        return (await self.runner.perform(joining.declared_by(accept), _visitor(by), {})).answer

    async def read(
        self, rule: Callable[..., Any], by: Principal | Visitor | None, input: Input | None = None, **ids: Any
    ) -> Any:
        """One thing, as a caller is shown it."""
        read = self._declared[rule]
        assert isinstance(read, Read)
        at, thing = await self.runner.admit(read, _visitor(by), ids)
        return await show(
            read, at, await read.rule(at, *(argument for argument in (thing, input) if argument is not None))
        )

    async def list(
        self, rule: Callable[..., Any], by: Principal | Visitor | None, input: Input | None = None, **ids: Any
    ) -> list[Any]:
        """A whole list, as a caller is shown it."""
        listing = self._declared[rule]
        assert isinstance(listing, Listing)
        at, _ = await self.runner.admit(listing, _visitor(by), ids)
        result = listing.rule(at, *([] if input is None else [input]))
        return await shown_whole(self.runner.core, listing, at, await result if isawaitable(result) else result)


def _visitor(by: Principal | Visitor | None) -> Visitor:
    return by if isinstance(by, Visitor) else Visitor(principal=by, limited=False)
