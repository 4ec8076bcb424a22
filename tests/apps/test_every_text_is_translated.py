"""Every text that a page shows has a translation: the demo is read page by page in a made-up language.

What people wrote themselves is known from the store, and left out.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product
from typing import Any

import httpx
import pytest
from babel.messages.jslexer import tokenize

from potluck.commands.demo import DemoSignIn, FilledDemo, filled
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import APPS, assembled
from potluck.web import catalogues
from potluck.web.http.application import Application
from tests.e2e.every_page import LOOKED_AT_BY, page_of
from tests.made_up_language import LANGUAGE, with_catalogues
from tests.people.assembly import CountingHasher
from tests.web.reading import BROWSER
from tests.web.suites import PASSWORD, client_at, signed_up
from tools.messages import SUITE

WORD = re.compile(r"[A-Za-z]{2,}")
# Names, addresses, ids and units that are the same in every language.
SAME_EVERYWHERE = re.compile(
    r"\S+@\S*|\bpotluck\.example\b|https?://\S+|\b[a-z]{3}-[a-z]{3}-\d+\b|[0-9a-f]{8}-[0-9a-f-]{27}|(?<!\S)/\S+|\.\w+\b"
    r"|\b(Potluck|UTC|kB|MB|ISBN|API|QR|CSV|JSON|MARCXML|Goodreads|Prometheus|DynamoDB|SQLite|AWS SDK|Python)\b"
)
# Of tags that have no text for people, and what the layout draws with letters.
NO_TEXT = {"script", "style", "code", "pre"}
DRAWN = {"wordmark", "avatar", "short-id"}
TEXT_ATTRIBUTES = {"title", "aria-label", "placeholder", "alt", "label"}
FOR_SCRIPTS = {"data-parts", "data-apps", "data-copy", "data-draft"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
SHORT_ID = re.compile(r"[a-z]{3}-[a-z]{3}-\d+")
# Longer than a text of ours that happens to be part of what people wrote.
LONG = 20
PARAMETER = re.compile(r"{(\w+)}")
# How many pages of a kind are read.
ALIKE = 2
NEWCOMER = "Kofi"
MISSING = "/nowhere"
FIRST = ("/", "/sign-up", "/sign-in", "/forgotten", "/reset", "/goodbye", MISSING, "/problems")
FOR_DEVELOPERS = ("/static/", "/style", "/schema")
# Pages that no one in the demo reaches, each with the reason.
NOT_IN_DEMO: Mapping[str, str] = {
    "/schema": "in English",
    "/sign-in/new": "comes after an identity provider",
    "/signed-out": "comes after an identity provider",
    "/polls/{poll_id}/thanks": "comes after a vote",
    "/journal/entries/{entry_id}/comments/{comment_id}": "is linked to from a menu",
    "/shareables/{short_id}/items/{checklist_item_id}/edit": "is linked to from a menu",
}


class Texts(HTMLParser):
    """What a page says: its texts, and those in attributes, each with whether it is drawn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, bool]] = []
        self.code: set[str] = set()
        self.links: list[str] = []
        self._open = [("", False, False)]
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        _, silent, drawn = self._open[-1]
        classes = set((dict(attrs).get("class") or "").split())
        silent = silent or tag in NO_TEXT or bool(classes & DRAWN)
        if tag not in VOID:
            self._open.append((tag, silent, drawn or tag == "svg"))
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")
        if not silent:
            texts = [value for name, value in attrs if value and (name in TEXT_ATTRIBUTES or is_text(name, value))]
            self.found += [(text, False) for text in texts]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if any(tag == opened for opened, *_ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        tag, silent, drawn = self._open[-1]
        if tag in ("code", "pre"):
            self.code.add(data.strip())
        elif data.strip() and not silent and not data.lstrip().startswith("{"):
            self.found.append((data.strip(), drawn))


def is_text(attribute: str, value: str) -> bool:
    """Whether an attribute for scripts has something to say."""
    return attribute.startswith("data-") and attribute not in FOR_SCRIPTS and " " in value and value[0] not in "{[/?"


def without(text: str, code: set[str]) -> str:
    """The text without the code of its page, which some labels repeat."""
    return next((text.replace(line, "") for line in code if line and line in text), text)


class Written:
    """What people wrote, as it is stored."""

    def __init__(self, texts: set[str], words: set[str]) -> None:
        lines = {line.strip() for text in texts for line in (text, *text.splitlines(), *parts_of_id(text))}
        self.texts = {line for line in lines if WORD.search(line) and line not in words}
        # Parts of these are shown too: in drawings, between quotes.
        self._all = "\n".join(self.texts).casefold()
        self._by_first_word: defaultdict[str, list[str]] = defaultdict(list)
        for text in sorted(self.texts, key=len, reverse=True):
            self._by_first_word[WORD.findall(text)[0]].append(text)

    def left_of(self, text: str, *, drawn: bool) -> str:
        """What of a text people did not write."""
        if text in self.texts or ((drawn or len(text) > LONG) and text.casefold().strip(" ,…⁨⁩") in self._all):
            return ""
        for word in WORD.findall(text):
            for written in self._by_first_word[word]:
                if written in text:
                    text = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", "", text)
        return SAME_EVERYWHERE.sub("", text)


def parts_of_id(text: str) -> list[str]:
    """The parts that a short id is shown in."""
    return text.split("-") if SHORT_ID.fullmatch(text) else []


def texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from texts_in(inner)
        case list() | tuple():
            for inner in value:
                yield from texts_in(inner)


async def rows_of(engine: Any) -> list[Any]:
    rows: list[Any] = []
    for table in (await engine.call("ListTables", {}))["TableNames"]:
        page: dict[str, Any] = {}
        while page == {} or "LastEvaluatedKey" in page:
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if page else {}
            page = await engine.call("Scan", {"TableName": table, **start})
            rows += page["Items"]
    return rows


async def words_of_the_api(client: httpx.AsyncClient) -> set[str]:
    """Those that a field can have, such as the roles: they are stored, but no person typed them."""
    document = (await client.get("/schema/openapi.json")).text
    return {word for words in re.findall(r'"enum": (\[[^]]*])', document) for word in json.loads(words) if word}


async def slugs(client: httpx.AsyncClient) -> set[str]:
    """Those of problems, which are for programs."""
    return set(re.findall(r'href="/problems/([a-z-]+)"', (await client.get("/problems", headers=BROWSER)).text))


class Reader:
    """A reader of every page that links lead to, and of those that are known by their addresses."""

    def __init__(self, client: httpx.AsyncClient, of_all: set[str]) -> None:
        """`of_all` are the paths that any of them has read."""
        self.client = client
        self.of_all = of_all
        self.kinds: Counter[str] = Counter()
        self.ids: defaultdict[str, set[str]] = defaultdict(set)

    async def read(self, first: Iterable[str]) -> AsyncIterator[tuple[str, Texts]]:
        """Pages, each with its path; of those that differ by ids alone, a few."""
        ahead = list(first)
        while ahead:
            path, _, query = ahead.pop().partition("#")[0].partition("?")
            kind = page_of(path, LOOKED_AT_BY) or path
            self.kinds[kind] += 1
            is_shared = path.startswith("/problems/") and path in self.of_all
            if self.kinds[kind] > ALIKE or path.startswith(FOR_DEVELOPERS) or is_shared:
                continue
            self.of_all.add(path)
            for name, id in zip(PARAMETER.findall(kind), ids_in(path, kind), strict=True):
                self.ids[name].add(id)
            answer = await self.client.get(f"{path}?{query}")
            if "location" in answer.headers:
                ahead.append(answer.headers["location"])
            elif answer.headers.get("content-type", "").startswith("text/html"):
                if answer.status_code == 404 and path != MISSING:
                    continue
                page = Texts(answer.text)
                yield path, page
                ahead += [link for link in page.links if link.startswith("/")]

    def others(self) -> list[str]:
        """The addresses of pages of other kinds, made of the ids that were read of."""
        known = {name: sorted(ids)[:ALIKE] for name, ids in self.ids.items()}
        unread = [kind for kind in LOOKED_AT_BY if not self.kinds[kind] and kind not in NOT_IN_DEMO]
        return [
            PARAMETER.sub("{}", kind).format(*ids)
            for kind in unread
            for ids in product(*(known.get(name, ()) for name in PARAMETER.findall(kind)))
        ]


def ids_in(path: str, kind: str) -> list[str]:
    return [part for part, name in zip(path.split("/"), kind.split("/"), strict=True) if name.startswith("{")]


# Between them they have everything: Renzo is a coach.
PEOPLE = {"Mara Okafor", "Leo Lindqvist", "Renzo Alves"}


async def everything(application: Application, demo: FilledDemo) -> AsyncIterator[tuple[str, Texts]]:
    """Every page, as people in the demo see it, a newcomer, and a visitor."""
    of_all: set[str] = set()
    for person in [*(person for person in demo.sign_ins if person.name in PEOPLE), "newcomer", None]:
        async with client_at(application) as client:
            client.headers.update(BROWSER | {"accept-language": LANGUAGE, "sec-fetch-site": "same-origin"})
            if person == "newcomer":
                await signed_up(client, "newcomer@example.org", NEWCOMER)
                person = DemoSignIn(NEWCOMER, "newcomer@example.org", PASSWORD)
            if isinstance(person, DemoSignIn):
                form = {"email": person.email, "password": person.password}
                assert (await client.post("/sign-in", data=form)).status_code == 303
            reader = Reader(client, of_all)
            first = (*FIRST, *(place.address for place in demo.worth_a_look)) if person is None else ("/",)
            async for page in reader.read(first):
                yield page
            async for page in reader.read(reader.others()):
                yield page


async def test_every_text_of_every_page_is_translated(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogues, "OF_SUITE", with_catalogues(tmp_path / "locale"))
    settings = Settings(data=tmp_path / "data")
    demo = await filled(settings, lambda _: None, passwords=Passwords(CountingHasher()))
    untranslated: defaultdict[str, set[str]] = defaultdict(set)
    seen: set[str | None] = set()
    # Without background work, which would wait for pages to be read.
    quiet = replace(settings, background="elsewhere")
    async with assembled(quiet, passwords=Passwords(CountingHasher())) as application:
        async with client_at(application) as client:
            stored = set(texts_in(await rows_of(application.state.core.engine)))
            names = {NEWCOMER, *(person.name.split()[0] for person in demo.sign_ins)}
            samples = set(texts_in([dict(app.sample.values) for app in APPS if app.sample is not None]))
            written = Written(stored | names | samples | await slugs(client), await words_of_the_api(client))
        async for path, page in everything(application, demo):
            seen.add(page_of(path, LOOKED_AT_BY))
            for text, drawn in page.found:
                if WORD.search(text) and WORD.search(written.left_of(without(text, page.code), drawn=drawn)):
                    untranslated[re.sub(r"\d+", "9", text)].add(path)
    if untranslated:
        found = sorted(f"{min(paths)}: {text}" for text, paths in untranslated.items())
        pytest.fail("\n".join(["these texts are not translated:", *found]), pytrace=False)
    assert sorted(LOOKED_AT_BY.keys() - seen) == sorted(NOT_IN_DEMO)


# --- scripts ----------------------------------------------------------------------------------------------------------

SCRIPTS = sorted(file for file in SUITE.glob("**/static/**/*.js") if "vendor" not in file.parts)
# Translated already, or of an error that programmers read.
NOT_SHOWN = {"_", "ngettext", "new"}
# A sentence, or words: no selector, class list, address, header or code.
SENTENCE = re.compile(r"[A-Z][a-z]+[ ,.!?…’]|[a-z]+ [a-z]+ [a-z]+|^[A-Z][a-z]+$")
CODE = re.compile(r"[#\[\]<>=:{}()_/;*]|^on [a-z]|^[a-z-]+( [a-z]+-[a-z-]+)+$")
# Names that browsers gave things, and what is thrown at programmers.
OF_BROWSERS = re.compile(
    r"(Arrow|Page)(Up|Down|Left|Right)|Home|End|Escape|Enter|Backspace|Delete|Tab|Space|Not?[A-Z]\w+Error|\w+Error|\w+Event"
    r"|[A-Z][a-z]+(-[A-Z][a-z]+)+|DOMContentLoaded|BroadcastChannel"
)


def untranslated_in(script: str) -> Iterator[str]:
    """The texts of a script that are not arguments of the functions that translate, nor of errors."""
    callers: list[str] = []
    before: list[str] = ["", ""]
    for token in tokenize(script, jsx=False):
        match token.type, token.value:
            case "operator", "(":
                callers.append("new" if before[0] == "new" else before[1])
            case "operator", ")" if callers:
                callers.pop()
            case "string" | "template_string", text:
                words = re.sub(r"\$\{[^}]*\}", "", text[1:-1])
                is_class = before == ["class", ":"]
                is_text = (
                    not is_class and SENTENCE.search(words) and not (CODE.search(words) or OF_BROWSERS.fullmatch(words))
                )
                if is_text and before[0] not in ("==", "!=") and not NOT_SHOWN.intersection(callers):
                    yield text
        before = [before[1], token.value]


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: "/".join(file.relative_to(SUITE).parts[-4:]))
def test_every_text_of_a_script_is_translated(file):
    found = list(untranslated_in(file.read_text()))
    if found:
        pytest.fail("\n".join(["these texts are not translated:", *found]), pytrace=False)
