import asyncio
import json
import re
import struct
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from potluck.suite import system_clock
from potluck.web import layout
from potluck.web.assets import STATIC, assets_of
from potluck.web.style import HUES
from tests.toy import NotesApp
from tests.web.reading import BROWSER, Page
from tests.web.suites import bearer, signed_up, suite_on
from tools import app_icons
from tools.trimmed_css import Used, texts_of

ROOT = Path(__file__).parent.parent.parent
FACE = re.compile(r"@font-face \{[^}]*url[^}]*\}")
WESTERN = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿœßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŒ¡¿«»„“”‘’…–—"
CENTRAL = "ąćęłńśźżčďěňřšťůžőűăâîșțģķļņāēīūėįųğışđĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽŐŰĂȘȚĢĶĻŅĀĒĪŪĖĮŲĞİŞĐẞ"
FIGURES = "0123456789€%+−·×"
FOR_VISITORS = (
    "/",
    "/nowhere",
    "/sign-up",
    "/sign-in",
    "/forgotten",
    "/reset",
    "/invitation",
    "/goodbye",
    "/problems",
    "/problems/busy",
    "/schema",
    "/style",
    *(f"/style/{name}" for name in HUES if name != "home"),
)
# Of somebody who is signed in, marked so that both fit into one list.
THEIRS = "ada:"
FOR_PEOPLE = (f"{THEIRS}/", f"{THEIRS}/account", f"{THEIRS}/account/delete", f"{THEIRS}/notes", f"{THEIRS}/notes/book")
PAGES = (*FOR_VISITORS, *FOR_PEOPLE)
VENDOR = STATIC / "vendor"
SECTIONS = {
    "home.html",
    "welcome.html",
    "people/account.html",
    "shareables/home.html",
    "shareables/new.html",
    "shopping/list.html",
    "shopping/shell.html",
    "shopping/inventory.html",
    "shopping/stores.html",
    "journal/write.html",
    "journal/timeline.html",
    "journal/ask.html",
    "journal/coaches.html",
    "polls/polls.html",
    "polls/new.html",
    "library/libraries.html",
    "library/search.html",
    "library/lent.html",
    "library/sharing.html",
}
"""Where the sections of the apps lead, and home."""


class Served:
    """The suite, asked by tests that wait for nothing."""

    def __init__(self, runner, client) -> None:
        self.runner = runner
        self.client = client
        made = self.runner.run(signed_up(client))
        self.ada = bearer(made)
        opened = self.runner.run(client.post("/notes", data={"name": "Campfire"}, headers=self.ada))
        self.book = opened.headers["location"]
        self.runner.run(client.post(f"{self.book}/notes", data={"title": "Firewood"}, headers=self.ada))

    def get(self, path, headers=None):
        if not path.startswith(THEIRS):
            return self.runner.run(self.client.get(path, headers=headers))
        path = path.removeprefix(THEIRS).replace("/notes/book", self.book)
        return self.runner.run(self.client.get(path, headers=(headers or {}) | self.ada))


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Iterator[Served]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        # A person who signs in for pages signs in with a clock that moves.
        suite = suite_on(tmp_path_factory.mktemp("data"), (NotesApp,), clock=system_clock)
        client, _ = runner.run(stack.enter_async_context(suite))
        yield Served(runner, client)
        runner.run(stack.aclose())


def page(client, path) -> Page:
    answer = client.get(path, headers=BROWSER)
    assert answer.status_code == (404 if path == "/nowhere" else 200), path
    return Page(answer.text)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_nothing_inline_and_nothing_from_other_hosts(client, path):
    text = client.get(path, headers=BROWSER).text
    assert not re.search(r"<script[^>]*>[^<]", text)
    for tag, attributes in Page(text).tags:
        assert tag not in ("style", "base")
        assert not [name for name in attributes if name == "style" or name.startswith("on")], tag
        for name in ("href", "src", "action", "data-live"):
            # The card on the page of components has a link to itself.
            assert attributes.get(name, "/").startswith(("/", "#", "https://potluck.example/")), attributes


@pytest.mark.parametrize("path", PAGES)
def test_ids_are_given_once_and_everything_named_by_id_is_there(client, path):
    tags = page(client, path).tags
    ids = Counter(attributes["id"] for _, attributes in tags if "id" in attributes)
    assert [name for name, times in ids.items() if times > 1] == []
    for _, attributes in tags:
        for name in ("for", "aria-labelledby", "aria-describedby"):
            assert set(attributes.get(name, "").split()) <= ids.keys(), attributes
        if (attributes.get("href") or "").startswith("#"):
            assert attributes["href"][1:] in ids, attributes


def test_everything_a_page_links_to_is_there_and_has_its_type(client):
    linked = set()
    for path in PAGES:
        shown = page(client, path)
        linked |= {attributes["href"].partition("#")[0] for attributes in shown.all("link", "use")}
        linked |= {attributes["src"] for attributes in shown.all("script")}
    types = Counter()
    for address in linked:
        answer = client.get(address)
        assert answer.status_code == 200, address
        types[answer.headers["content-type"].split(";")[0]] += 1
    assert types == {
        # Of every page, of the front page, of the API page, and the hue that the toy names.
        "text/css": 4,
        "text/javascript": 9,
        "image/svg+xml": 2,
        "image/png": 1,
        "application/manifest+json": 1,
    }


def test_what_style_sheets_name_is_there(client):
    for sheet in STATIC.glob("*.css"):
        for name in re.findall(r'url\("([^"]+)"\)', sheet.read_text()):
            assert client.get(assets_of([]).address(name)).status_code == 200, name


def test_every_class_in_the_templates_has_a_rule_and_no_rule_is_left_over():
    styled = set(re.findall(r"\.([a-z][\w-]*)", "".join(file.read_text() for file in STATIC.glob("*.css"))))
    # Numbers of a drawing, names of files, and what scripts put on.
    styled -= {"css", "min", "woff2"}
    sources = [
        *layout.TEMPLATES.rglob("*.html"),
        *(STATIC / "js").rglob("*.js"),
        Path(layout.HERE / "drawings.py"),
    ]
    written = "".join(file.read_text() for file in sources)
    words = set(re.findall(r"[a-z][\w-]*", written))
    generated = {"h0", "h1", "h2", "h3", "h4", "part-0", "part-1", "part-2", "patch"}
    assert sorted(styled - words - generated) == []


def test_every_page_leads_back_to_the_page_above_it_or_is_a_section():
    folders = [layout.TEMPLATES, *(ROOT / "src" / "potluck" / "apps").glob("*/templates")]
    sources = {str(file.relative_to(folder)): file.read_text() for folder in folders for file in folder.rglob("*.html")}

    def chain(name):
        above = re.search(r'{% extends "(.+?)" %}', sources[name])
        return [name, *(chain(above[1]) if above else ())]

    extended = {above for name in sources for above in chain(name)[1:]}
    pages = {name for name in sources if "page.html" in chain(name)} - extended
    without = {name for name in pages if not any("{% set back = " in sources[above] for above in chain(name)[:-1])}
    assert without == SECTIONS


def test_the_two_dark_themes_are_the_same():
    sheet = (STATIC / "tokens.css").read_text()
    by_device = re.search(r':root:not\(\[data-theme="light"\]\) \{(.*?)\}', sheet, re.S)[1]
    by_choice = re.search(r'\n\[data-theme="dark"\] \{(.*?)\}', sheet, re.S)[1]
    assert by_device.split() == by_choice.split()


def test_every_icon_used_is_in_the_sprite(client):
    used = set()
    for path in PAGES:
        used |= {attributes["href"].partition("#")[2] for attributes in page(client, path).all("use")}
    assert used == set(layout.icon_names())


def test_vendored_files_are_those_that_were_recorded():
    recorded = dict(reversed(line.split("  ")) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())
    found = {
        str(file.relative_to(VENDOR)): sha256(file.read_bytes()).hexdigest()
        for file in VENDOR.rglob("*")
        if file.is_file() and file.name != "SHA256SUMS"
    }
    assert found == recorded


def test_vendored_packages_are_listed_with_their_licences_and_explained():
    explained = (ROOT / "docs" / "decisions" / "13-dependencies.md").read_text()
    listed = set()
    for package in tomllib.loads((ROOT / "tools" / "vendored.toml").read_text())["package"]:
        files = [name.removeprefix("vendor/") for _, name in package["files"]]
        files += [package["sprite"].removeprefix("vendor/")] if "sprite" in package else []
        files += ["pico/left-out.txt"] if "trimmed" in package else []
        files += [name.removeprefix("vendor/").replace(".", "-rest.") for name in package.get("split", ())]
        assert any("LICENSE" in name for name in files), package["name"]
        assert f"{package['name']} {package['version']}" in explained
        listed |= set(files)
    assert listed == {line.split("  ")[1] for line in (VENDOR / "SHA256SUMS").read_text().splitlines()}


def test_the_icons_of_the_installed_app_are_drawn_from_the_plate():
    manifest = json.loads((STATIC / "manifest.webmanifest").read_text())
    assert {icon["src"] for icon in manifest["icons"]} < {f"icons/{name}" for name in app_icons.ICONS} | {"plate.svg"}
    for name, (size, on_cloth) in app_icons.ICONS.items():
        content = (STATIC / "icons" / name).read_bytes()
        assert struct.unpack(">II", content[16:24]) == (size, size)
        if size < 192:
            start = content.index(b"IDAT") + 4
            length = struct.unpack(">I", content[start - 8 : start - 4])[0]
            lines = zlib.decompress(content[start : start + length])
            pixels = b"".join(lines[y * (size * 4 + 1) + 1 : (y + 1) * (size * 4 + 1)] for y in range(size))
            assert pixels == app_icons.drawn(size, on_cloth=on_cloth)


def test_a_hue_that_is_none_is_not_found(client):
    assert client.get("/style/mustard", headers=BROWSER).status_code == 404
    assert client.get("/style?page=99", headers=BROWSER).status_code == 422


def test_a_template_is_compiled_once_in_a_process_and_anew_when_it_changes(tmp_path, monkeypatch):
    (tmp_path / "greeting.html").write_text("Hello {{ name }}")
    assert layout.environment([], [tmp_path]).get_template("greeting.html").render(name="Mara") == "Hello Mara"
    with monkeypatch.context() as nobody_compiles:
        nobody_compiles.setattr(layout.Environment, "compile", None)
        assert layout.environment([], [tmp_path]).get_template("greeting.html").render(name="Leo") == "Hello Leo"
    (tmp_path / "greeting.html").write_text("Good evening {{ name }}")
    assert layout.environment([], [tmp_path]).get_template("greeting.html").render(name="Leo") == "Good evening Leo"


def test_a_live_list_begins_with_a_space():
    live = layout.environment([]).get_template("components/live.html").make_module()
    assert str(live.live_list("chores", "/events", "p")).startswith(' id="chores" data-live="/events?since=p"')


def test_pages_use_nothing_that_was_left_out_of_pico():
    """If they do: `make vendor`, which puts its rules back in."""
    used = Used(texts_of(ROOT / "src" / "potluck"))
    assert [name for name in (VENDOR / "pico" / "left-out.txt").read_text().splitlines() if used.has(name)] == []


@pytest.mark.parametrize("family", ["Figtree", "Bricolage Grotesque"])
def test_the_typefaces_have_what_the_languages_of_europe_need(family):
    faces = [face for face in FACE.findall((STATIC / "tokens.css").read_text()) if f'"{family}"' in face]
    letters = {}
    for face in faces:
        name = re.search(r'url\("([^"]+)"\)', face)[1]
        ranges = re.findall(r"U\+([0-9A-F]+)(?:-([0-9A-F]+))?", face)
        font = TTFont(STATIC / name)
        # Without these, some systems round the width of each letter to whole pixels.
        assert {"gasp", "prep"} <= {*font.keys()}, name
        known = font.getBestCmap()
        letters[name] = {chr(code) for code in known if any(int(a, 16) <= code <= int(b or a, 16) for a, b in ranges)}
    assert set().union(*letters.values()) >= set(WESTERN + CENTRAL + FIGURES)
    # Of each page the first of these is loaded, and of most pages no other.
    (first,) = (name for name in letters if name.endswith("latin.woff2"))
    assert letters[first] >= set(WESTERN + FIGURES)
