"""Looking up a book by its ISBN or a film by its title: from the cache, else from a provider.

"No match" and "unreachable" are distinct outcomes, and neither keeps anybody from adding an item by hand.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal, Protocol
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct, field

from potluck.apps.library.entities import KnownElsewhere
from potluck.apps.library.fields import TOP_OF_CAST, Title
from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.apps.library.libraries import TAG
from potluck.people import Throttled
from potluck.store import Clock, Store
from potluck.table import fold
from potluck.validation import BadAddress, FieldError, Text, ValidationError
from potluck.web import Access, Actions, Input, Outbound, RateLimit, Settings, SignedIn, Unreachable

FOUND_STAYS = timedelta(days=30)
NOT_FOUND_STAYS = timedelta(days=1)
MOST_VIDEOS = 5
LARGEST_ANSWER = 2_000_000
LONGEST_FOUND = 60_000
# Lookups call other hosts with the operator's key: allowed as fast as a person scans their shelves, and no faster.
LOOKING_UP = RateLimit("look-ups", 150)
TMDB = "https://api.themoviedb.org/3"
TMDB_IMAGES = "https://image.tmdb.org/t/p/w500"

Kind = Literal["book", "video"]


class KnownWork(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=False):
    """What is known of a book or a film elsewhere, under the names by which it is added."""

    kind: Kind
    provider: str
    title: str
    summary: str | None = None
    picture_url: str | None = None
    authors: list[str] = field(default_factory=list)
    isbn: str | None = None
    directors: list[str] = field(default_factory=list)
    cast: list[str] = field(default_factory=list)
    release_year: int | None = None
    duration: int | None = None
    tmdb_id: int | None = None


class LookupResult(Struct, rename="camel", frozen=True, kw_only=True):
    """What came of looking something up."""

    outcome: Literal["found", "no-match", "unreachable", "no-service"]
    """`unreachable`: a service that may know it does not answer now. `no-service`: none is set up for this kind."""
    matches: list[KnownWork]


class LookupProvider(Protocol):
    """A service that knows books by ISBN or films by title; Unreachable if it does not answer."""

    name: str
    kind: Kind

    async def find(self, wanted: str) -> list[KnownWork]: ...


class OpenLibrary:
    """Books by ISBN, from Open Library."""

    name = "Open Library"
    kind: Kind = "book"

    def __init__(self, outbound: Outbound, address: str) -> None:
        self._outbound, self._address = outbound, address

    async def find(self, wanted: str) -> list[KnownWork]:
        asked = urlencode({"bibkeys": f"ISBN:{wanted}", "format": "json", "jscmd": "data"})
        found = _mapping(await _json(self._outbound, f"{self._address}/api/books?{asked}"))
        book = _mapping(found.get(f"ISBN:{wanted}"))
        title = _text(book.get("title"), 200)
        if title is None:
            return []
        subtitle = _text(book.get("subtitle"), 200)
        named = f"{title}: {subtitle}" if subtitle and len(title) + len(subtitle) < 198 else title
        cover = _mapping(book.get("cover"))
        return [
            KnownWork(
                kind="book",
                provider=self.name,
                title=named,
                authors=_names(book.get("authors")),
                isbn=wanted,
                picture_url=_text(cover.get("large") or cover.get("medium"), 2000),
            )
        ]


class Tmdb:
    """Films by title, from The Movie Database."""

    name = "TMDB"
    kind: Kind = "video"

    def __init__(self, outbound: Outbound, key: str, address: str = TMDB, images: str = TMDB_IMAGES) -> None:
        self._outbound, self._key, self._address, self._images = outbound, key, address, images

    async def find(self, wanted: str) -> list[KnownWork]:
        asked = urlencode({"query": wanted, "api_key": self._key})
        found = _mapping(await _json(self._outbound, f"{self._address}/search/movie?{asked}"))
        listed = [_mapping(each) for each in _sequence(found.get("results"))][:MOST_VIDEOS]
        return [known for each in listed if (known := await self._one(each.get("id"))) is not None]

    async def _one(self, tmdb_id: Any) -> KnownWork | None:
        if not isinstance(tmdb_id, int) or tmdb_id < 1:
            return None
        asked = urlencode({"api_key": self._key, "append_to_response": "credits"})
        film = _mapping(await _json(self._outbound, f"{self._address}/movie/{tmdb_id}?{asked}"))
        title = _text(film.get("title"), 200)
        if title is None:
            return None
        credits = _mapping(film.get("credits"))
        crew = [_mapping(each) for each in _sequence(credits.get("crew"))]
        year, minutes, poster = str(film.get("release_date") or "")[:4], film.get("runtime"), film.get("poster_path")
        return KnownWork(
            kind="video",
            provider=self.name,
            title=title,
            summary=_text(film.get("overview"), 4000),
            directors=_names([each for each in crew if each.get("job") == "Director"]),
            cast=_names(credits.get("cast"))[:TOP_OF_CAST],
            release_year=int(year) if year.isdigit() and 1800 <= int(year) <= 2100 else None,
            duration=minutes if isinstance(minutes, int) and 0 < minutes <= 1000 else None,
            tmdb_id=tmdb_id,
            picture_url=f"{self._images}{quote(poster)}" if isinstance(poster, str) and poster else None,
        )


class Lookup:
    """Asks the providers in turn until one has a match, and caches what each answers."""

    def __init__(self, store: Store, clock: Clock, providers: Sequence[LookupProvider]) -> None:
        self._rows = store
        self._clock = clock
        self._providers = providers

    @classmethod
    def configured(cls, store: Store, clock: Clock, settings: Settings, outbound: Outbound) -> "Lookup":
        """A lookup with the providers that the settings enable."""
        providers: list[LookupProvider] = []
        if settings.open_library is not None:
            providers.append(OpenLibrary(outbound, settings.open_library))
        if settings.tmdb_key is not None:
            providers.append(Tmdb(outbound, settings.tmdb_key))
        return cls(store, clock, providers)

    async def book(self, isbn: str) -> LookupResult:
        return await self._asked("book", f"isbn#{isbn}", isbn)

    async def video(self, title: str) -> LookupResult:
        return await self._asked("video", f"video#{fold(title)[:200]}", title)

    def serves(self, kind: Kind) -> bool:
        """Whether a service for this kind is set up."""
        return any(each.kind == kind for each in self._providers)

    async def _asked(self, kind: Kind, wanted: str, sent: str) -> LookupResult:
        if not self.serves(kind):
            return LookupResult(outcome="no-service", matches=[])
        reachable = True
        for provider in (each for each in self._providers if each.kind == kind):
            kept = await self._rows.get(KnownElsewhere.one(wanted, provider.name))
            if kept is not None:
                found = [] if kept.found is None else msgspec.json.decode(kept.found, type=list[KnownWork])
            else:
                try:
                    found = await provider.find(sent)
                except (Unreachable, BadAddress):
                    reachable = False
                    continue
                await self._keep(wanted, provider.name, found)
            if found:
                return LookupResult(outcome="found", matches=found)
        return LookupResult(outcome="no-match" if reachable else "unreachable", matches=[])

    async def _keep(self, wanted: str, provider: str, found: list[KnownWork]) -> None:
        text = msgspec.json.encode(found).decode() if found else None
        if text is not None and len(text) > LONGEST_FOUND:
            return
        until = self._clock() + (FOUND_STAYS if found else NOT_FOUND_STAYS)
        await self._rows.put(KnownElsewhere(wanted=wanted, provider=provider, found=text, ttl=int(until.timestamp())))


def looking_up(at: Access) -> Lookup:
    """The lookup, for one look that counts against the caller's rate limit."""
    at.core.rate_limiter.take(LOOKING_UP, at.visitor)
    lookup: Lookup = at.context.lookup
    return lookup


# --- what others say is taken with care -------------------------------------------------------------------------------


async def _json(outbound: Outbound, url: str) -> Any:
    answer = await outbound.get(url, LARGEST_ANSWER, accept="application/json", checked=False)
    if answer.status == 404:
        return {}
    if answer.status != 200:
        raise Unreachable(f"answered with {answer.status}")
    try:
        return msgspec.json.decode(answer.body)
    except msgspec.DecodeError as error:
        raise Unreachable("the answer is not JSON") from error


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _sequence(found: Any) -> Sequence[Any]:
    return found if isinstance(found, list) else []


def _text(found: Any, longest: int) -> str | None:
    """A string as one line, cut to `longest`; None for anything else."""
    text = " ".join(found.split()) if isinstance(found, str) else ""
    return "".join(each for each in text if each.isprintable())[:longest].strip() or None


def _names(found: Any) -> list[str]:
    named = (_text(_mapping(each).get("name"), 100) for each in _sequence(found))
    return [each for each in named if each is not None][:50]


# --- by the API -------------------------------------------------------------------------------------------------------


class OfIsbn(SignedIn):
    """Someone who is signed in, about an ISBN."""

    isbn: Annotated[str, Text(0, 40, "An ISBN has ten or thirteen digits")]


class VideoQuery(Input):
    title: Title


lookups: Actions[Any] = Actions(SignedIn, api="/lookup", tag=TAG)


@lookups.read("/isbn/{isbn}", Throttled, tagged=False)
async def look_up_isbn(at: OfIsbn) -> LookupResult:
    """A book by its ISBN, of ten or thirteen digits, with hyphens or not; a wrong one is refused with the reason."""
    # Reading the clock prevents caching: the answer depends on more than the store.
    _ = at.now
    try:
        isbn = isbn_13(at.isbn)
    except BadIsbn as bad:
        raise ValidationError(FieldError("isbn", str(bad))) from bad
    return await looking_up(at).book(isbn)


@lookups.read("/video", Throttled, tagged=False)
async def look_up_video(at: SignedIn, wanted: VideoQuery) -> LookupResult:
    """Films by their title, the closest first."""
    _ = at.now
    return await looking_up(at).video(wanted.title)
