"""Templates, and the addresses of the files they link to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from starlette.requests import Request
from starlette.responses import Response

from potluck.people.authentication import Principal
from potluck.web.app_entry import AppEntry
from potluck.web.assets import STATIC, assets_of
from potluck.web.catalogues import languages_of
from potluck.web.flash import flash_for
from potluck.web.formats import date_text, list_text, number_text
from potluck.web.http.responses import Cookie, html, with_cookies
from potluck.web.template_messages import TranslatedEnvironment
from potluck.web.template_names import must_leave_names, reserved_names
from potluck.web.translation import ENGLISH, Language, _, current_language

if TYPE_CHECKING:
    from potluck.web.access import Visitor

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ACCOUNT = "/account"
HOME_SECTIONS = (("/", "layout-grid", _("Home")), ("/invitation", "mail", _("Join")), (ACCOUNT, "user", _("Account")))
"""The sections of the pages outside the apps, for people who are signed in."""
HERE = Path(__file__).parent

# What the service worker reads: who is signed in, and for how many seconds the page may be shown without a network.
PERSON = "potluck-person"
SAVED = "potluck-offline"
SAVED_SECONDS = 30 * 24 * 3600.0
TEMPLATES = HERE / "templates"


@cache
def icon_names() -> tuple[str, ...]:
    """The icons that pages may use."""
    return tuple(re.findall(r'<symbol id="([^"]+)"', (STATIC / "vendor" / "lucide" / "icons.svg").read_text()))


class CompiledOnce(BytecodeCache):
    """Compiles a template once per process, however many suites are assembled in it."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


@cache
def compiled_in(language: Language) -> CompiledOnce:
    # Every environment has the same options and filters, so the code of a template depends on its file and language.
    return CompiledOnce()


class Templates:
    """What pages are made from: our own templates first, then those of the apps."""

    def __init__(self, catalogue: Sequence[AppEntry], folders: Iterable[Path] = (), hue_sheet: str = "") -> None:
        """`hue_sheet` is the address of the style sheet with the hues of further apps, if there is one."""
        self._folders = tuple(folders)
        self.catalogue = catalogue
        self.languages = languages_of(self._folders)
        scripts = {language.script_name: language.script.encode() for language in self.languages.all if language.script}
        self.assets = assets_of(self._folders, scripts)
        # A page links to dozens of files.
        self._globals = {"asset": cache(self.assets.address), "hue_sheet": hue_sheet}
        self._by_language: dict[Language, Environment] = {}
        self.environment = self.environment_in(ENGLISH)
        self.names, self.reserved = _names_in(self._folders)

    def environment_in(self, language: Language) -> Environment:
        """The templates in this language."""
        known = self._by_language.get(language)
        if known is None:
            known = self._by_language[language] = environment(self.catalogue, self._folders, language)
            known.globals |= self._globals
        return known

    def render(self, request: Request, name: str, context: Mapping[str, Any]) -> str:
        """The template in the current language."""
        return self.environment_in(current_language()).get_template(name).render({"request": request, **context})

    def page(
        self,
        request: Request,
        name: str,
        visitor: Visitor,
        context: Mapping[str, Any],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        cookies: Sequence[Cookie] = (),
        *,
        saved_for: float = 0,
    ) -> Response:
        """A page as this person sees it: with a link to their account, or to sign in, and the flash message, once.

        For `saved_for` seconds, their browser may show it when there is no network (static/worker.js)."""
        principal = visitor.principal
        user_id = "" if principal is None else str(principal.user_id)
        # Enough to tell apart the people who share a device.
        whose = {"person": user_id[:8], "opens_offline": saved_for > 0}
        flash, dropped = flash_for(request, visitor)
        shared = layout_context(principal, request.scope["path"]) | whose | {"flash": flash}
        text = self.render(request, name, shared | dict(context))
        of_person = {PERSON: user_id} | ({SAVED: str(int(saved_for))} if saved_for > 0 else {})
        return with_cookies(html(text, status, of_person | dict(headers or {})), (*dropped, *cookies))


@cache
def _names_in(folders: Sequence[Path]) -> tuple[frozenset[str], frozenset[str]]:
    """The templates there are, and the names that pages leave to the layout, which all of these do."""
    listing = environment((), folders)
    # Only listed: compiling them all would take as long as the rest of the start.
    names, reserved = frozenset(listing.list_templates()), reserved_names(listing)
    must_leave_names(listing, names, reserved)
    return names, reserved


def layout_context(principal: Principal | None, path: str = "") -> dict[str, Any]:
    """The context that every page has."""
    me, sections = None, []
    if principal is not None:
        me = {"name": principal.name, "initials": initials(principal.name), "address": ACCOUNT}
        sections = [Section(address, icon, name, address == path) for address, icon, name in HOME_SECTIONS]
    return {"me": me, "sign_in": "/sign-in", "home_sections": sections}


def environment(
    catalogue: Sequence[AppEntry], folders: Iterable[Path] = (), language: Language = ENGLISH
) -> Environment:
    environment = TranslatedEnvironment(
        language,
        loader=FileSystemLoader([TEMPLATES, *folders]),
        bytecode_cache=compiled_in(language),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["apps"] = catalogue
    environment.globals["hue_sheet"] = ""
    environment.filters["in_words"] = in_words
    environment.filters["initials"] = initials
    environment.filters["date"] = date_text
    environment.filters["number"] = number_text
    environment.filters["listed"] = list_text
    return environment


def in_words(count: int) -> str:
    """A number as a word, if it is small."""
    return WORDS[count] if count < len(WORDS) else str(count)


class Section(NamedTuple):
    """A part of an app, for the navigation bar at the bottom of phones."""

    address: str
    icon: str
    name: str
    current: bool


def initials(name: str) -> str:
    """The initials of a name: one or two letters."""
    words = [word for word in name.split() if word[0].isalnum()] or name.split()
    return "".join(word[0] for word in (*words[:1], *words[1:][-1:])).upper() or "?"
