"""The catalogues of other languages: `locale/<language>/LC_MESSAGES/*.po` of the suite, and those next to templates.

Whatever the files are called, they are one catalogue, except `scripts.po`, which has the messages of scripts. Babel
reads them when the suite starts: there is nothing to compile, and without them Babel is not even imported.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from gettext import c2py
from pathlib import Path
from typing import TYPE_CHECKING, Any

from potluck.web.translation import ENGLISH, Key, Language, Languages

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

OF_SUITE = Path(__file__).parent.parent / "locale"
OF_SCRIPTS = "scripts.po"
# Numbers that are in every category of whole numbers that a language has.
ENOUGH_NUMBERS = 1000


def languages_of(template_folders: Iterable[Path]) -> Languages:
    """English, and the languages of which the suite or an app has a catalogue."""
    folders = [OF_SUITE, *(templates.parent / "locale" for templates in template_folders)]
    files = sorted({file for folder in folders for file in folder.glob("*/LC_MESSAGES/*.po")})
    # The times tell an edited file from the one that was read.
    return _languages(tuple((file, file.stat().st_mtime_ns) for file in files))


@cache
def _languages(files: tuple[tuple[Path, int], ...]) -> Languages:
    by_locale: dict[str, list[Path]] = defaultdict(list)
    for file, _ in files:
        by_locale[file.parent.parent.name].append(file)
    return Languages(_language(locale, files) for locale, files in sorted(by_locale.items()))


def _language(locale: str, files: Iterable[Path]) -> Language:
    # Takes a tenth of a second to import.
    from babel import Locale
    from babel.messages.pofile import read_po

    known = Locale.parse(locale)
    messages: dict[Key, tuple[str, ...]] = {}
    of_scripts: dict[Key, tuple[str, ...]] = {}
    plural_form = ENGLISH.plural_form
    for file in files:
        with file.open("rb") as opened:
            catalogue = read_po(opened, locale=locale)
        plural_form = c2py(catalogue.plural_expr)
        (of_scripts if file.name == OF_SCRIPTS else messages).update(_translated(catalogue))
    categories = {known.plural_form(number): plural_form(number) for number in reversed(range(ENOUGH_NUMBERS))}
    return Language(
        tag=str(known).replace("_", "-"),
        locale=str(known),
        is_rtl=known.text_direction == "rtl",
        messages=messages,
        plural_form=plural_form,
        script=_script(of_scripts, categories) if of_scripts else "",
    )


def _translated(catalogue: Catalog) -> Iterator[tuple[Key, tuple[str, ...]]]:
    for message in catalogue:
        forms = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if message.id and all(forms) and not message.fuzzy:
            key: Any = message.id if isinstance(message.id, str) else tuple(message.id)
            yield key, forms


def _script(messages: Mapping[Key, tuple[str, ...]], categories: Mapping[str, int]) -> str:
    """A script with the messages: those with plural forms by the category that browsers know for a number."""
    texts = {
        key if isinstance(key, str) else key[0]: forms[0]
        if isinstance(key, str)
        else {category: forms[form] for category, form in categories.items()}
        for key, forms in messages.items()
    }
    return f"globalThis.potluckWords = {json.dumps(texts, ensure_ascii=False, sort_keys=True)};\n"
