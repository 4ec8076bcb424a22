"""Looks up books by ISBN and films by title, in the cache and then at the providers.

"No match" and "unreachable" are distinct outcomes, and people can add an item manually after either.
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
from potluck.store import Store
from potluck.table import fold
from potluck.validation import FieldError, Text, ValidationError
from potluck.web import Access, Actions, Core, Input, RateLimit, SignedIn

FOUND_STAYS = timedelta(days=30)
NOT_FOUND_STAYS = timedelta(days=1)
MOST_VIDEOS = 5
LARGEST_ANSWER = 2_000_000
LONGEST_FOUND = 60_000
# Lookups call other hosts with the operator's key: allow them as fast as a person scans a shelf, and no faster.
LOOKING_UP = RateLimit("lookups", 150)
TMDB = "https://api.themoviedb.org/3"
TMDB_IMAGES = "https://image.tmdb.org/t/p/w500"

Kind = Literal["book", "video"]


class KnownWork(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=False):
    """A provider's record of a book or a film, with the field names that adding it needs."""

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
    """The result of a lookup."""

    outcome: Literal["found", "no-match", "unreachable", "no-service"]
    """`unreachable`: a provider that may have a match does not answer now. `no-service`: none is set up for this."""
    matches: list[KnownWork]


class LookupProvider(Protocol):
    """A service that knows books by ISBN or films by title; ConnectionError if it does not answer."""

    name: str
    kind: Kind

    async def find(self, text: str) -> list[KnownWork]: ...


class OpenLibrary:
    """Books by ISBN, from Open Library."""

    name = "Open Library"
    kind: Kind = "book"

    def __init__(self, core: Core, address: str) -> None:
        self._core, self._address = core, address

    async def find(self, text: str) -> list[KnownWork]:
        query = urlencode({"bibkeys": f"ISBN:{text}", "format": "json", "jscmd": "data"})
        answer = _mapping(await _json(self._core, f"{self._address}/api/books?{query}"))
        book = _mapping(answer.get(f"ISBN:{text}"))
        title = _text(book.get("title"), 200)
        if title is None:
            return []
        subtitle = _text(book.get("subtitle"), 200)
        full_title = f"{title}: {subtitle}" if subtitle and len(title) + len(subtitle) < 198 else title
        cover = _mapping(book.get("cover"))
        return [
            KnownWork(
                kind="book",
                provider=self.name,
                title=full_title,
                authors=_names(book.get("authors")),
                isbn=text,
                picture_url=_text(cover.get("large") or cover.get("medium"), 2000),
            )
        ]


class Tmdb:
    """Films by title, from The Movie Database."""

    name = "TMDB"
    kind: Kind = "video"

    def __init__(self, core: Core, key: str, address: str = TMDB, images: str = TMDB_IMAGES) -> None:
        self._core, self._key, self._address, self._images = core, key, address, images

    async def find(self, text: str) -> list[KnownWork]:
        query = urlencode({"query": text, "api_key": self._key})
        answer = _mapping(await _json(self._core, f"{self._address}/search/movie?{query}"))
        films = [_mapping(film) for film in _sequence(answer.get("results"))][:MOST_VIDEOS]
        return [known for film in films if (known := await self._one(film.get("id"))) is not None]

    async def _one(self, tmdb_id: Any) -> KnownWork | None:
        if not isinstance(tmdb_id, int) or tmdb_id < 1:
            return None
        query = urlencode({"api_key": self._key, "append_to_response": "credits"})
        film = _mapping(await _json(self._core, f"{self._address}/movie/{tmdb_id}?{query}"))
        title = _text(film.get("title"), 200)
        if title is None:
            return None
        credits = _mapping(film.get("credits"))
        crew = [_mapping(person) for person in _sequence(credits.get("crew"))]
        year, minutes, poster = str(film.get("release_date") or "")[:4], film.get("runtime"), film.get("poster_path")
        return KnownWork(
            kind="video",
            provider=self.name,
            title=title,
            summary=_text(film.get("overview"), 4000),
            directors=_names([person for person in crew if person.get("job") == "Director"]),
            cast=_names(credits.get("cast"))[:TOP_OF_CAST],
            release_year=int(year) if year.isdigit() and 1800 <= int(year) <= 2100 else None,
            duration=minutes if isinstance(minutes, int) and 0 < minutes <= 1000 else None,
            tmdb_id=tmdb_id,
            picture_url=f"{self._images}{quote(poster)}" if isinstance(poster, str) and poster else None,
        )


class Lookup:
    """Calls the providers in turn until one has a match, and caches their answers."""

    def __init__(self, store: Store, providers: Sequence[LookupProvider]) -> None:
        self._store = store
        self._providers = providers

    @classmethod
    def configured(cls, core: Core) -> "Lookup":
        """A lookup with the providers that the settings enable."""
        providers: list[LookupProvider] = []
        if core.settings.open_library is not None:
            providers.append(OpenLibrary(core, core.settings.open_library))
        if core.settings.tmdb_key is not None:
            providers.append(Tmdb(core, core.settings.tmdb_key))
        return cls(core.store, providers)

    async def book(self, isbn: str) -> LookupResult:
        return await self._look_up("book", f"isbn#{isbn}", isbn)

    async def video(self, title: str) -> LookupResult:
        return await self._look_up("video", f"video#{fold(title)[:200]}", title)

    def serves(self, kind: Kind) -> bool:
        """Whether a provider for this is set up."""
        return any(provider.kind == kind for provider in self._providers)

    async def _look_up(self, kind: Kind, key: str, sent: str) -> LookupResult:
        if not self.serves(kind):
            return LookupResult(outcome="no-service", matches=[])
        reachable = True
        for provider in (candidate for candidate in self._providers if candidate.kind == kind):
            cached = await self._store.get(KnownElsewhere.one(key, provider.name))
            if cached is not None:
                works = [] if cached.found is None else msgspec.json.decode(cached.found, type=list[KnownWork])
            else:
                try:
                    works = await provider.find(sent)
                except ConnectionError:
                    reachable = False
                    continue
                await self._keep(key, provider.name, works)
            if works:
                return LookupResult(outcome="found", matches=works)
        return LookupResult(outcome="no-match" if reachable else "unreachable", matches=[])

    async def _keep(self, key: str, provider: str, works: list[KnownWork]) -> None:
        text = msgspec.json.encode(works).decode() if works else None
        if text is not None and len(text) > LONGEST_FOUND:
            return
        until = self._store.clock() + (FOUND_STAYS if works else NOT_FOUND_STAYS)
        await self._store.put(KnownElsewhere(wanted=key, provider=provider, found=text, ttl=int(until.timestamp())))


def looking_up(at: Access) -> Lookup:
    """The lookup, for one call that counts against the caller's rate limit."""
    at.core.rate_limiter.take(LOOKING_UP, at.visitor)
    lookup: Lookup = at.context.lookup
    return lookup


# --- untrusted answers -----------------------------------------------------------------------------------


async def _json(core: Core, url: str) -> Any:
    answer = await core.outbound.get(url, LARGEST_ANSWER, accept="application/json", checked=False)
    if answer.status == 404:
        return {}
    if answer.status != 200:
        raise ConnectionError(f"answered with {answer.status}")
    try:
        return msgspec.json.decode(answer.body)
    except msgspec.DecodeError as error:
        raise ConnectionError("the answer is not JSON") from error


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any, longest: int) -> str | None:
    """A string as one line, cut to `longest`; None for anything else."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return "".join(character for character in text if character.isprintable())[:longest].strip() or None


def _names(value: Any) -> list[str]:
    names = (_text(_mapping(person).get("name"), 100) for person in _sequence(value))
    return [name for name in names if name is not None][:50]


# --- the API ----------------------------------------------------------------------------------------------------------


class OfIsbn(SignedIn):
    """A signed-in caller, with the ISBN in the path."""

    isbn: Annotated[str, Text(0, 40, "An ISBN has ten or thirteen digits", kind="raw")]


class VideoQuery(Input):
    title: Title


lookups: Actions[Any] = Actions(SignedIn, api="/lookup", tag=TAG)


@lookups.read("/isbn/{isbn}", Throttled, tagged=False)
async def look_up_isbn(at: OfIsbn) -> LookupResult:
    """Look up a book by its ISBN of ten or thirteen digits, with or without hyphens."""
    # Reading the clock prevents caching: the answer depends on more than the store.
    _ = at.now
    try:
        isbn = isbn_13(at.isbn)
    except BadIsbn as error:
        raise ValidationError(FieldError("isbn", error.reason)) from error
    return await looking_up(at).book(isbn)


@lookups.read("/video", Throttled, tagged=False)
async def look_up_video(at: SignedIn, query: VideoQuery) -> LookupResult:
    """Look up films by title, the closest first."""
    _ = at.now
    return await looking_up(at).video(query.title)
