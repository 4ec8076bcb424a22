"""Actions: the rules of one subject, each declared at its address. A decorator returns the function unchanged.

    stores = Actions(InFamily, Store.by_id, StoreView, api="/families/{family_id}/stores")

    @stores.list(order=by_name, live=True)
    def all_stores(at: InFamily) -> Query[Store]:
        \"\"\"All stores, by name.\"\"\"
        return Store.all_of_family(at.family_id)

    @stores.create()
    async def add_store(at: FamilyAdmin, new: NewStore) -> Writes[Store]:
        \"\"\"Add a store. Admins only.\"\"\"
        store = at.make(new, family_id=at.family_id, store_id=new.store_id or at.new_id())
        return Writes(store, put(store, when=absent))

A rule's parameters say what it needs: the first is an Access and says who may call it; one of the subject's entity type
is the thing that the path names; an Input is what the caller sent. mypy checks all of them. What mypy cannot see, such
as a path parameter whose type nothing declares, or one that the access needs and the address does not have, is a
DeclarationError at import.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import get_annotations, iscoroutinefunction, signature
from types import UnionType
from typing import Any, ClassVar, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from starlette.responses import Response

from potluck.people.throttling import RateLimit
from potluck.table import Entity, Query, Ref
from potluck.table.entity import plan_of
from potluck.web.access import Access
from potluck.web.cookies import BrowserCookie, must_be_settable
from potluck.web.declarations import (
    OWN_MODULES,
    Action,
    Declared,
    Instead,
    Listing,
    Method,
    Page,
    PageForm,
    Read,
    Show,
    Then,
    parameters_of,
)
from potluck.web.decorators import ActionDecorator, ListDecorator, ReadDecorator
from potluck.web.entity_fields import kinds_of
from potluck.web.errors import Problem, problem_of
from potluck.web.flash import Flashes
from potluck.web.http.responses import NOT_TRANSFORMED
from potluck.web.inputs import DeclarationError, FormOf, Input
from potluck.web.live import Changes
from potluck.web.rate_limits import DEFAULT_LIMIT
from potluck.web.redirects import PATH_PARAMETER, must_be_named, must_be_there
from potluck.web.updates import MaybeSince, Rule, Updates, changes_rule, events_rule
from potluck.web.views import View, ViewPlan, view_plan
from potluck.web.writes import Writes

# PageForm and Show are re-exported for apps.
__all__ = ["Actions", "PageForm", "Show"]

E = TypeVar("E", bound=Entity)
T = TypeVar("T")
C = TypeVar("C", bound=BrowserCookie)
U = TypeVar("U", bound=Updates[Any])

Context = Mapping[str, Any]
Problems = Sequence[type[Exception] | Problem]
Frame = Callable[[Any], Awaitable[Context]]


class Actions(Generic[E]):
    """The rules of one subject. `one` finds a thing by its id; without it, all rules are about the path itself.

    Where the path alone does not identify a thing, `one` is the entity: the access finds it, as `at.thing`. Its path
    parameter is the last one of the entity's key.
    """

    def __init__(
        self,
        access: type[Access],
        one: Callable[..., Ref[E]] | type[E] | None = None,
        view: type[View[E]] | Mapping[type[Access], type[View[E]]] | None = None,
        *,
        api: str | None = None,
        page: str | None = None,
        tag: str = "",
        frame: Frame | None = None,
    ) -> None:
        """`frame` makes the context that all pages of the subject share; `tag` is its chapter of the API document.

        `view` may map each access to its own view: what an athlete sees is not what a coach sees.
        """
        self.access, self.api, self.page_address, self.tag, self.frame = access, api, page, tag, frame
        self.one = None if isinstance(one, type) else one
        self.views = _views(view)
        self.declared: list[Declared] = []
        self.entities: tuple[type[Entity], ...] = ()
        """The classes of its things: more than one, if `one` finds several kinds."""
        self.id: str | None = None
        self.names: tuple[str, ...] = ()
        if isinstance(one, type):
            key = plan_of(one).key
            names = [name for template in (key.partition, *key.sort[:1]) for name in template.fields]
            self.entities, self.id = (one,), names[-1]
        elif one is not None:
            self.names = one.__self__.names  # type: ignore[attr-defined]
            self.entities = tuple(member.cls for member in one.__self__.pattern.members)  # type: ignore[attr-defined]
            named = {*PATH_PARAMETER.findall(api or page or ""), *access.finds_by}
            own = [name for name in self.names if name not in named]
            if len(own) != 1:
                raise DeclarationError(
                    f"{api or page}: all parameters of {one} but the last must be in it: {self.names}"
                )
            self.id = own[0]
        elif self.views:
            self.entities = next(iter(self.views.values())).entities
        self.entity: type[Entity] | None = self.entities[0] if self.entities else None

    def view_for(self, access: type[Access]) -> ViewPlan:
        """The view of things that callers with this access get."""
        for base in access.__mro__:
            if base in self.views:
                return self.views[base]
        raise DeclarationError(f"{self.api or self.page_address}: there is no view for {access.__name__}")

    def declared_by(self, rule: Callable[..., Any]) -> Action:
        """The action that this rule was declared as, for code that runs it outside its own endpoint."""
        for declaration in self.declared:
            if isinstance(declaration, Action) and declaration.rule is rule:
                return declaration
        raise DeclarationError(f"{self.api or self.page_address}: {rule.__name__} is none of its actions")

    # --- reading ------------------------------------------------------------------------------------------------------

    def list(
        self,
        path: str = "",
        *problems: type[Exception] | Problem,
        order: Callable[[Any], tuple[Any, ...]] | None = None,
        also: Callable[[Sequence[Any]], Struct] | None = None,
        shows: type[Struct] | None = None,
        live: bool | Callable[[Any], Query[E]] = False,
        row: str | None = None,
        row_events: str = "/events",
    ) -> ListDecorator[E]:
        """`GET` of the list. If the rule returns a query or References, it is read page by page, in key order.

        `order` instead reads the whole list and sorts it by this key of each view, the last part of which must be
        unique. `also` adds members computed from the whole list. `shows` is the type of what OwnPages returns. `live`
        also serves `/events` and `/changes`, for the rule's own query or for one made from the access. `row` is the
        template that renders each change for pages, streamed at `row_events` after the page's address; a subject
        without `api` serves only that stream.
        """

        def declare(rule: Any) -> Any:
            read = self._signature(rule, path)
            follows: Any = None
            if live:
                follows = live if callable(live) else rule
                if live is True and (read.input is not None or iscoroutinefunction(rule)):
                    raise DeclarationError(f"{rule.__name__}: say which query is live: `live=lambda at: ...`")
            if also is not None and order is None and not iscoroutinefunction(rule):
                raise DeclarationError(f"{rule.__name__}: `also` needs the whole list; name its `order=` as well")
            self.declared.append(
                Listing(
                    **read.common(self, None if self.api is None and row is not None else self._api(path, read)),
                    problems=problems_of(problems),
                    order=order,
                    also=also,
                    shows=shows,
                    live=follows,
                    row=row,
                    row_events=None if row is None else self._page(row_events, read),
                )
            )
            return rule

        return declare

    def read(
        self,
        path: str = "",
        *problems: type[Exception] | Problem,
        media_type: str = "application/json",
        tagged: bool = True,
    ) -> ReadDecorator[E]:
        """`GET` of one thing, or of whatever the rule returns: an entity, a struct, or a response of its own."""

        def declare(rule: Any) -> Any:
            read = self._signature(rule, path, awaited=True)
            self.declared.append(
                Read(
                    **read.common(self, self._api(path, read)),
                    problems=problems_of(problems),
                    answer=read.answer,
                    media_type=media_type,
                    tagged=tagged,
                )
            )
            return rule

        return declare

    def live(self, *problems: type[Exception] | Problem) -> Callable[[type[U]], type[U]]:
        """`GET` of `/events` and `/changes`, as a class of Updates says."""

        def declare(updates: type[U]) -> type[U]:
            for path, rule, answer, media_type in (
                ("/events", events_rule(updates), Response, "text/event-stream"),
                ("/changes", changes_rule(updates), Changes, "application/json"),
            ):
                read = self._live_signature(updates, rule, answer)
                self.declared.append(
                    Read(
                        **read.common(self, self._api(path, read)),
                        problems=problems_of(problems),
                        answer=answer,
                        media_type=media_type,
                        tagged=False,
                    )
                )
            return updates

        return declare

    def live_page(self, path: str) -> Callable[[type[U]], type[U]]:
        """The events for a page, at this path after the page's address."""

        def declare(updates: type[U]) -> type[U]:
            read = self._live_signature(updates, events_rule(updates, on_page=True), Response)
            address = self._page(path, read)
            self.declared.append(Page(**read.common(self, None), address=address, template="", takes_show=True))
            return updates

        return declare

    def _live_signature(self, updates: type[Updates[Any]], rule: Rule, answer: Any) -> _Signature:
        on_thing = self.id is not None
        return _Signature(rule=rule, access=updates.access, answer=answer, input=MaybeSince, on_thing=on_thing)

    # --- writing ------------------------------------------------------------------------------------------------------

    def create(
        self,
        *problems: type[Exception] | Problem,
        form: PageForm | None = None,
        secret: bool | Literal["sometimes"] = False,
        rate_limit: RateLimit = DEFAULT_LIMIT,
        frees_room: bool = False,
    ) -> ActionDecorator[E]:
        """`POST` to the list, answered with 201."""
        return self._action(
            "POST", "", problems, status=201, form=form, secret=secret, rate_limit=rate_limit, frees_room=frees_room
        )

    def change(
        self,
        *problems: type[Exception] | Problem,
        form: PageForm | None = None,
        rate_limit: RateLimit = DEFAULT_LIMIT,
    ) -> ActionDecorator[E]:
        """`PATCH` of one thing; the caller names the version they saw."""
        return self._action("PATCH", "", problems, status=200, form=form, rate_limit=rate_limit)

    def delete(
        self, path: str = "", *problems: type[Exception] | Problem, form: PageForm | None = None
    ) -> ActionDecorator[E]:
        """`DELETE` of one thing, answered with 204; with If-Match, only of that version."""
        return self._action("DELETE", path, problems, status=204, form=form, frees_room=True)

    def action(
        self,
        method: Method,
        path: str = "",
        *problems: type[Exception] | Problem,
        status: int = 200,
        form: PageForm | None = None,
        secret: bool | Literal["sometimes"] = False,
        input_optional: bool = False,
        idempotent: bool = True,
        serialized: bool = False,
        largest_body: int | None = None,
        rate_limit: RateLimit = DEFAULT_LIMIT,
        frees_room: bool = False,
    ) -> ActionDecorator[E]:
        """Any other write, to one thing if the rule takes one: `action("PATCH", "/status")`.

        `serialized` is for things that many callers change at once: within a process, they take turns.
        `largest_body` raises the limit on the body, in bytes.
        `frees_room` is for what must be possible however full the store is.
        """
        return self._action(
            method,
            path,
            problems,
            status=status,
            form=form,
            secret=secret,
            input_optional=input_optional,
            serialized=serialized,
            idempotent=idempotent,
            largest_body=largest_body,
            rate_limit=rate_limit,
            frees_room=frees_room,
        )

    def command(self) -> ActionDecorator[E]:
        """A write that only code performs, such as a command of the operator; no request reaches it."""
        return self._action("POST", "", (), status=200, form=None, api=False)

    def form(
        self,
        path: str,
        *,
        then: Then,
        on: Callable[..., Any] | None = None,
        versioned: bool = True,
        access: type[Access] | None = None,
        takes: type[FormOf[Any]] | None = None,
        flash: Flashes = "",
        sets: Mapping[C, str | Callable[[Any, Any], Any]] | None = None,
        drops: BrowserCookie | Sequence[BrowserCookie] = (),
        drops_anonymous: bool = False,
        instead: Instead | None = None,
        serialized: bool = False,
        rate_limit: RateLimit | None = None,
        frees_room: bool = False,
        largest_body: int | None = None,
    ) -> ActionDecorator[E]:
        """A `POST` that only pages send: their own form, or a rule of the API that gets a form here.

        A rule that is an API action as well keeps that action's rate limit, unless another is given, `serialized` and
        `frees_room`. `access` is for a rule that several subjects declare, each for its own callers.
        """
        form = PageForm(
            path=path,
            then=then,
            on=on,
            versioned=versioned,
            takes=takes,
            flash=flash,
            sets=dict(() if sets is None else sets.items()),
            drops=drops if isinstance(drops, Sequence) else (drops,),
            drops_anonymous=drops_anonymous,
            instead=instead or {},
        )

        def declare(rule: Any) -> Any:
            known = next(
                (action for action in self.declared if isinstance(action, Action) and action.rule is rule), None
            )
            return self._action(
                "POST",
                path,
                (),
                status=200,
                form=form,
                api=False,
                access=access,
                secret=known is not None and known.secret,
                serialized=serialized or (known is not None and known.serialized),
                rate_limit=rate_limit or (DEFAULT_LIMIT if known is None else known.rate_limit),
                frees_room=frees_room or (known is not None and known.frees_room),
                largest_body=largest_body,
            )(rule)

        return declare

    # --- pages --------------------------------------------------------------------------------------------------------

    def page(
        self,
        path: str | None,
        template: str = "",
        *,
        access: type[Access] | None = None,
        headers: Mapping[str, str] | None = None,
        secret: bool = False,
        instead: Instead | None = None,
        offline: bool = False,
    ) -> Callable[[T], T]:
        """A page at this path after the address of the subject, or of the thing if the rule takes one.

        Without a path, it is only shown in place of others: as `on` or `instead` of a form or of another page.
        `instead` says where a refusal leads, of the access or of the rule. `headers` are sent with every answer of this
        page, such as a Permissions-Policy. `secret`: it may show a secret, so it is never compressed. `offline`:
        browsers save it, as of the last visit, for when there is no network.

        The rule returns the context of its template, or a response of its own; without a template, such as for a file,
        always that. It takes an access, then any of: the thing, an Input decoded from the query string, and a Show.
        """

        def declare(rule: Any) -> Any:
            if secret and offline:
                raise DeclarationError(f"{rule.__name__}: a page with a secret is not saved for offline")
            read = self._signature(rule, path or "", access, documented=False, awaited=True)
            self.declared.append(
                Page(
                    **read.common(self, None),
                    address=None if path is None else self._page(path, read),
                    template=template,
                    takes_show=read.takes_show,
                    offline=offline,
                    headers={**(NOT_TRANSFORMED if secret else {}), **(headers or {})},
                    instead=instead or {},
                )
            )
            return rule

        return declare

    # --- what these share ---------------------------------------------------------------------------------------------

    def _action(
        self,
        method: Method,
        path: str,
        problems: Problems,
        *,
        status: int,
        form: PageForm | None,
        api: bool = True,
        access: type[Access] | None = None,
        **options: Any,
    ) -> ActionDecorator[E]:
        def declare(rule: Any) -> Any:
            whole_path = path + (form.path or "" if form is not None else "")
            read = self._signature(rule, whole_path, access, documented=api, awaited=True)
            form_path = None
            if form is not None:
                form_path = self._page(path if form.path is None else form.path, read)
                if form.then == "" and form.on is None:
                    raise DeclarationError(
                        f"{rule.__name__}: say where an accepted form leads: `then=`, or `on=` the page that shows it"
                    )
                parameters = PATH_PARAMETER.findall(form_path)
                if isinstance(form.then, str):
                    must_be_there(rule.__name__, form.then, parameters, read.answer)
                must_be_settable(rule.__name__, form.sets, form.drops, parameters, read.answer)
                if isinstance(form.flash, str):
                    named = must_be_named(rule.__name__, form.flash, parameters, read.answer, "flash")
                    if options.get("secret") and not set(named) <= set(parameters):
                        raise DeclarationError(f"{rule.__name__}: flash: the answer has a secret; name nothing of it")
            self.declared.append(
                Action(
                    **read.common(self, self._api(path, read) if api else None),
                    problems=problems_of(problems),
                    method=method,
                    status=204 if read.answer is type(None) else status,
                    answer=read.answer,
                    form=form,
                    form_path=form_path,
                    **options,
                )
            )
            return rule

        return declare

    def _api(self, path: str, read: _Signature) -> str:
        if self.api is None:
            raise DeclarationError(f"{self.page_address}: an action for programs needs `api=`")
        return self._address(self.api, path, read)

    def _page(self, path: str, read: _Signature) -> str:
        if self.page_address is None:
            raise DeclarationError(f"{self.api}: a page needs `page=`")
        return self._address(self.page_address, path, read)

    def _address(self, start: str, path: str, read: _Signature) -> str:
        address = f"{start}/{{{self.id}}}{path}" if read.on_thing else start + path
        missing = needed_by(read.access) - set(PATH_PARAMETER.findall(address))
        if missing:
            raise DeclarationError(
                f"{read.rule.__name__}: {read.access.__name__} needs {sorted(missing)}, which {address} does not have;"
                " annotate in an access only parameters of the path"
            )
        return address

    def _signature(
        self,
        rule: Any,
        path: str = "",
        of: type[Access] | None = None,
        *,
        documented: bool = True,
        awaited: bool = False,
    ) -> _Signature:
        """What a rule takes and returns, read once, at import; `of` is its access, where that is said apart."""
        hints = get_type_hints(rule)
        access, *parameters = [hints.get(name) for name in signature(rule).parameters]
        access = of or access
        if not (isinstance(access, type) and issubclass(access, Access)):
            raise DeclarationError(f"{rule.__name__}: the first parameter must be an Access; it says who may call this")
        if documented and not rule.__doc__:
            raise DeclarationError(f"{rule.__name__}: write a docstring; the API document shows it")
        if awaited and not iscoroutinefunction(rule):
            raise DeclarationError(f"{rule.__name__}: write `async def`; only a list may be an ordinary function")
        read = _Signature(rule=rule, access=access, answer=_answer(hints.get("return")))
        self._must_have_view(read)
        for parameter in parameters:
            if parameter is Show:
                read.takes_show = True
            elif self.id is not None and kinds_of(parameter) == self.entities:
                read.on_thing = True
            elif isinstance(parameter, type) and issubclass(parameter, Input):
                read.input = parameter
            else:
                name = parameter.__name__ if isinstance(parameter, type) else parameter
                raise DeclarationError(f"{rule.__name__}: {name} is neither an Input nor the subject's entity")
        addresses = [address for address in (self.api, self.page_address) if address is not None]
        known = {name for address in (*addresses, path) for name in PATH_PARAMETER.findall(address)}
        known |= {self.id} if self.id is not None else set()
        missing = known - set(parameters_of(access, self.entity))
        if missing:
            raise DeclarationError(f"{rule.__name__}: nothing says what {sorted(missing)} of the path are")
        taken = known & names_of_access(access)
        if taken:
            raise DeclarationError(f"{rule.__name__}: call {sorted(taken)} of the path otherwise: a rule has those")
        return read

    def _must_have_view(self, read: _Signature) -> None:
        """A DeclarationError if the rule answers with entities that no view of the subject shows to this access."""
        entities = _entities_in(read.answer)
        if entities and not self.views:
            raise DeclarationError(
                f"{read.rule.__name__}: a {entities[0].__name__} is shown by a view; give the subject one"
            )
        for entity in entities:
            if entity not in self.view_for(read.access).entities:
                shown = self.view_for(read.access).cls.__name__
                raise DeclarationError(f"{read.rule.__name__}: {shown} does not show a {entity.__name__}")


@dataclass(slots=True, kw_only=True)
class _Signature:
    rule: Callable[..., Any]
    access: type[Access]
    answer: Any
    input: type[Input] | None = None
    on_thing: bool = False
    takes_show: bool = False

    def common(self, subject: Actions[Any], path: str | None) -> dict[str, Any]:
        return {
            "subject": subject,
            "rule": self.rule,
            "access": self.access,
            "path": path,
            "input": self.input,
            "on_thing": self.on_thing,
        }


def names_of_access(access: type[Access]) -> set[str]:
    """The attributes that an access has anyway, which a path parameter of the same name would overwrite."""
    own = (base for base in access.__mro__ if base.__module__ in OWN_MODULES)
    return {name for base in own for name in (*vars(base), *get_annotations(base))}


def needed_by(access: type[Access]) -> set[str]:
    """The path parameters that an access cannot do without: what it annotates, unless that has a value otherwise."""
    return {
        name
        for name, kind in parameters_of(access).items()
        if not hasattr(access, name) and name not in access.finds_by and ClassVar not in (kind, get_origin(kind))
    }


def problems_of(declared: Problems) -> tuple[Problem, ...]:
    return tuple(problem if isinstance(problem, Problem) else problem_of(problem) for problem in declared)


def _views(view: Any) -> dict[type[Access], ViewPlan]:
    if view is None:
        return {}
    if isinstance(view, Mapping):
        return {access: view_plan(shown) for access, shown in view.items()}
    return {Access: view_plan(view)}


def _entities_in(answer: Any) -> list[type[Entity]]:
    """The entities that an answer of this type is, or lists."""
    if get_origin(answer) in (Union, UnionType, list, Sequence, Query):
        return [entity for part in get_args(answer) for entity in _entities_in(part)]
    # Entity itself is the type of classes that are not known here.
    return [answer] if isinstance(answer, type) and issubclass(answer, Entity) and answer is not Entity else []


def _answer(hint: Any) -> Any:
    """The type of a rule's answer, without the Writes around it."""
    if get_origin(hint) is Writes:
        return get_args(hint)[0]
    return hint
