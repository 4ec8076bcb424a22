"""Texts in the language of who reads them.

    _("Add %(name)s", name=item.name)
    ngettext("%(num)s item", "%(num)s items", len(items))

Both return a text that is looked up when a page shows it, so that constants of modules work too. For everything else it
is its English text: it is compared and hashed as that, and answers of the API have it. The current language is English
wherever no page is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

# The API, and the pages about it and about components, which are for developers.
ENGLISH_ONLY = ("/api/", "/schema", "/style")
# Of an Accept-Language header, as much as any browser sends.
LONGEST_HEADER = 200
# English groups the digits of larger numbers.
GROUPED = 1000

Key = str | tuple[str, str]
"""A message: its English text, or the singular and the plural one."""


def english_plural(count: int) -> int:
    return int(count != 1)


@dataclass(frozen=True, eq=False, slots=True)
class Language:
    """A language that pages can be shown in."""

    tag: str
    """As in HTML: `de`, `pt-BR`."""
    locale: str
    """As Babel names it: `de`, `pt_BR`."""
    is_rtl: bool = False
    messages: Mapping[Key, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """The translation of each message, in every plural form."""
    plural_form: Callable[[int], int] = english_plural
    script: str = field(default="", repr=False)
    """A script with the messages of scripts; empty without any."""

    def singular(self, message: str) -> str:
        return self.messages.get(message, (message,))[0]

    def plural(self, singular: str, plural: str, count: int) -> str:
        forms = self.messages.get((singular, plural))
        if forms is None:
            return singular if count == 1 else plural
        return forms[self.plural_form(count)]

    @property
    def script_name(self) -> str:
        """Where that script is among the static files."""
        return f"locale/{self.tag}.js" if self.script else ""

    @property
    def direction(self) -> str:
        return "rtl" if self.is_rtl else "ltr"


ENGLISH = Language("en", "en_GB")

_current: ContextVar[Language] = ContextVar("language", default=ENGLISH)
current_language = _current.get
speak = _current.set
"""Sets the language of this request, or of this task."""


class LazyText(str):
    """A text that is looked up in the current language whenever it is shown; as a string it is the English text."""

    __slots__ = ("_count", "_message", "_plural", "_values")

    _message: str
    _plural: str | None
    _count: int
    _values: Mapping[str, Any]

    def __new__(cls, message: str, plural: str | None, count: int, values: Mapping[str, Any]) -> LazyText:
        text = super().__new__(cls, _text(ENGLISH, message, plural, count, values))
        text._message, text._plural, text._count, text._values = message, plural, count, values
        return text

    def __str__(self) -> str:
        language = _current.get()
        if language is ENGLISH:
            return str.__str__(self)
        return _text(language, self._message, self._plural, self._count, self._values)

    def __html__(self) -> str:
        # A command that shows no pages may be installed without it.
        from markupsafe import escape

        return escape(str(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> Any:
        return LazyText, (self._message, self._plural, self._count, self._values)


def _text(language: Language, message: str, plural: str | None, count: int, values: Mapping[str, Any]) -> str:
    if plural is None:
        text = language.singular(message)
        return text % values if values else text
    return language.plural(message, plural, count) % {"num": shown_count(count, language), **values}


def _(message: str, **values: Any) -> str:
    """The text of a message, with a value for each placeholder: `%(name)s`."""
    return LazyText(message, None, 0, values)


def ngettext(singular: str, plural: str, count: int, **values: Any) -> str:
    """The text of a message about a number of things, which is `%(num)s` in it."""
    return LazyText(singular, plural, count, values)


def shown_count(count: int, language: Language) -> str:
    if -GROUPED < count < GROUPED:
        return str(count)
    from potluck.web.formats import number_in

    return number_in(count, language.locale)


class Languages:
    """The languages of one suite."""

    def __init__(self, translated: Iterable[Language] = ()) -> None:
        self.all = (ENGLISH, *translated)
        self._by_tag = {language.tag.lower(): language for language in self.all}
        self._by_language = {language.tag.lower().partition("-")[0]: language for language in reversed(self.all)}
        self.preferred = lru_cache(maxsize=256)(self._preferred)

    @property
    def several(self) -> bool:
        return len(self.all) > 1

    def of_request(self, scope: Mapping[str, Any]) -> Language:
        """The language of what answers this request: the API speaks English, and so do pages for developers."""
        if scope["path"].startswith(ENGLISH_ONLY):
            return ENGLISH
        header = next((value for name, value in scope["headers"] if name == b"accept-language"), b"")
        return self.preferred(header[:LONGEST_HEADER].decode("latin-1"))

    def _preferred(self, header: str) -> Language:
        for tag in accepted(header):
            language = self._by_tag.get(tag) or self._by_language.get(tag.partition("-")[0])
            if language is not None:
                return language
        return ENGLISH


ENGLISH_ALONE = Languages()


def accepted(header: str) -> list[str]:
    """The tags of an Accept-Language header, those that are preferred first."""
    weighed: list[tuple[float, int, str]] = []
    for choice in header.split(","):
        tag, _, parameter = (part.strip().lower() for part in choice.partition(";"))
        try:
            weight = float(parameter.removeprefix("q=")) if parameter else 1.0
        except ValueError:
            continue
        if tag and weight > 0:
            weighed.append((-weight, len(weighed), tag))
    return [tag for _, _, tag in sorted(weighed)]
