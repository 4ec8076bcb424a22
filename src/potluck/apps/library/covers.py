"""Covers: fetched once from the item's URL, scaled down, re-encoded without metadata, and stored."""

import asyncio
import hashlib
import logging
import time
from typing import Annotated, Any, Literal

from starlette.responses import Response

from potluck.apps.library.access import InLibrary, OwnLibrary
from potluck.apps.library.drawn_books import drawn_cover
from potluck.apps.library.entities import Book, Cover, Item, Video
from potluck.apps.library.item_views import people_of
from potluck.apps.library.items import items
from potluck.apps.library.picture_processes import PictureProcesses
from potluck.apps.library.pictures import NotAPicture, small_picture
from potluck.people import Throttled
from potluck.table import WriteRefused, put, the, update
from potluck.validation import Text
from potluck.web import Core, Input, ProblemError, Writes

LARGEST_PICTURE = 10_000_000
RETRY_AFTER_SECONDS = 10
# One consumer fetches covers for all owners. After SLOW_SECONDS it continues with the next cover. An owner with
# MOST_SLOW slow covers within SLOW_STAYS seconds is skipped, and has to request covers explicitly.
SLOW_SECONDS, MOST_SLOW, SLOW_STAYS = 3.0, 5, 600.0
# Slow fetches that may continue in the background.
MOST_AT_ONCE = 20
# Cached by the browser of the owner, who always has access; the URL changes with the picture. A guest's browser
# revalidates each time, because a share can be revoked.
OWNER_CACHING = {"cache-control": "private, max-age=86400, immutable", "vary": "authorization, cookie"}

log = logging.getLogger(__name__)


class NoCover(ProblemError, slug="no-cover", status=409, title="No cover found"):
    """The cover could not be fetched: its host did not answer, is in a private network, or did not send a picture."""


class Covers:
    """Fetches covers, for the consumer of the table's stream or on request."""

    def __init__(self, core: Core) -> None:
        self._store = core.store
        self._outbound = core.outbound
        self._pictures = PictureProcesses()
        self._fetching: set[asyncio.Task[None]] = set()
        self._waiting: set[str] = set()
        self._slow: dict[str, list[float]] = {}

    async def fetch(self, item: Item) -> Cover:
        """The cover of an item, fetched now; NotAPicture or ConnectionError if that fails."""
        if item.picture_url is None:
            raise NotAPicture("the item has no picture URL")
        answer = await self._outbound.get(item.picture_url, LARGEST_PICTURE, accept="image/*")
        if answer.status != 200:
            raise ConnectionError(f"answered with {answer.status}")
        image = await self._pictures.plain(answer.body, item.owner_id)
        return Cover(
            owner_id=item.owner_id,
            item_id=item.item_id,
            source=item.picture_url,
            hash=hashlib.sha256(image).hexdigest(),
            image=image,
        )

    async def fetch_on_request(self, item: Item) -> Cover:
        """The cover of an item, fetched on request. One at a time per owner, so that slow hosts do not delay others."""
        if item.owner_id in self._waiting:
            raise Throttled(RETRY_AFTER_SECONDS)
        self._waiting.add(item.owner_id)
        try:
            return await self.fetch(item)
        finally:
            self._waiting.discard(item.owner_id)

    def _answers_in_time(self, owner_id: str) -> bool:
        """Whether this owner's hosts have been fast enough lately; all owners wait for slow ones."""
        since = time.monotonic() - SLOW_STAYS
        lately = {owner: [when for when in times if when > since] for owner, times in self._slow.items()}
        self._slow = {owner: times for owner, times in lately.items() if times}
        return len(self._slow.get(owner_id, ())) < MOST_SLOW

    async def fetch_for(self, item: Item) -> None:
        """Try once to fetch a new cover, without making the next one wait for a slow host."""
        if not self._answers_in_time(item.owner_id):
            return
        fetching = asyncio.create_task(self._fetch(item))
        self._fetching.add(fetching)
        fetching.add_done_callback(self._fetching.discard)
        try:
            await asyncio.wait((fetching,), timeout=SLOW_SECONDS)
            if fetching.done():
                fetching.result()
                return
            self._slow.setdefault(item.owner_id, []).append(time.monotonic())
            while len(self._fetching) >= MOST_AT_ONCE:
                await asyncio.wait(self._fetching, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            fetching.cancel()
            raise

    def stop(self) -> None:
        """Cancel all fetching and decoding."""
        self._pictures.stop()
        for fetching in self._fetching:
            fetching.cancel()

    async def _fetch(self, item: Item) -> None:
        try:
            cover = await self.fetch(item)
        except (NotAPicture, ConnectionError) as error:
            # The item is fine without it, and its owner can request it again.
            log.info("no cover: %s", type(error).__name__)
            return
        kind: Any = type(item)
        named = update(
            kind.one(item.owner_id, item.library_id, item.item_id),
            the(kind.cover_hash).becomes(cover.hash),
            when=the(kind.picture_url).still(item.picture_url),
            keep_version=True,
        )
        try:
            await self._store.transact(named, put(cover))
        except WriteRefused as refusal:
            log.info("a cover arrived too late: %s", type(refusal).__name__)


def wants_cover(item: Item) -> bool:
    """Whether the item has a picture URL that was not fetched yet."""
    return item.picture_url is not None and item.cover_hash is None


class CoverVersion(Input):
    v: Annotated[str, Text(0, 64, kind="raw", trim=False)] = ""
    """Which picture, so that a browser requests each of them once."""
    size: Literal["full", "small"] = "full"
    """Small is 240 pixels wide, for lists."""


@items.read("/cover", media_type="image/jpeg")
async def cover(at: InLibrary, item: Book | Video, version: CoverVersion) -> Response:
    """Get the cover of a book or a video: the stored picture as JPEG, or a drawing as SVG."""
    headers = OWNER_CACHING if at.owns else None
    picture = None if item.cover_hash is None else await at.store.get(Cover.one(at.owner_id, item.item_id))
    if picture is not None and picture.hash == item.cover_hash:
        image = picture.image
        if version.size == "small":
            image = await asyncio.to_thread(small_picture, image)
        return Response(image, media_type="image/jpeg", headers=headers)
    by = next(iter(people_of(item)), "")
    kind = "book" if isinstance(item, Book) else "video"
    drawn = drawn_cover(item.title, by, item.collection_name, item.order, kind)
    return Response(drawn, media_type="image/svg+xml", headers=headers)


@items.action("POST", "/cover", NoCover, idempotent=False)
async def fetch_cover(at: OwnLibrary, item: Book | Video) -> Writes[Book | Video]:
    """Fetch the cover again from its `pictureUrl`. Owner only."""
    covers: Covers = at.context.covers
    try:
        picture = await covers.fetch_on_request(item)
    except (NotAPicture, ConnectionError) as error:
        raise NoCover from error
    if picture.hash == item.cover_hash:
        return Writes(item)
    after, write = at.edit(item, the(type(item).cover_hash).becomes(picture.hash), keep_version=True)
    return Writes(after, write, put(picture))
