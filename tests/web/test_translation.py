"""Texts in the language of who reads them: in templates, in Python and in scripts, with an app's own catalogue."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from jinja2 import TemplateSyntaxError

from potluck.validation import encode
from potluck.web import App, Endpoints, _, ngettext
from potluck.web.catalogues import languages_of
from potluck.web.endpoints import Call
from potluck.web.formats import STYLES, date_text, list_text, number_text
from potluck.web.layout import Templates, environment
from potluck.web.translation import ENGLISH, Languages, accepted, speak
from tests.web.suites import suite_on

HEADER = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\\n"
"""
POLISH = f"""{HEADER}
msgid "Books"
msgstr "Książki"

msgid "Lend %(title)s"
msgstr "Pożycz: %(title)s"

msgid "Mine & yours"
msgstr "Moje \\"i\\" twoje"

msgid "By <b>%(name)s</b>"
msgstr "Napisał(a) <b>%(name)s</b>"

msgid "%(num)s book"
msgid_plural "%(num)s books"
msgstr[0] "%(num)s książka"
msgstr[1] "%(num)s książki"
msgstr[2] "%(num)s książek"

msgid "It names %(nothing)s"
msgstr "%(something)s"

#, fuzzy
msgid "Not sure"
msgstr "Może"
"""
OF_SCRIPTS = f"""{HEADER}
msgid "Saved"
msgstr "Zapisano"

msgid "%(num)s shelf"
msgid_plural "%(num)s shelves"
msgstr[0] "%(num)s półka"
msgstr[1] "%(num)s półki"
msgstr[2] "%(num)s półek"
"""
TEMPLATE = """{% extends "page.html" %}
{% block title %}{{ _("Books") }}{% endblock %}
{% block main %}<h1 title="{{ _('Mine & yours') }}">{{ _("Lend %(title)s", title=title) }}</h1>
<p>{{ ngettext("%(num)s book", "%(num)s books", count) }}. {% trans name=title %}By <b>{{ name }}</b>{% endtrans %}</p>
<p>{{ later }}, {{ _("Not sure") }}</p>{% endblock %}"""
LATER = _("Books")

pages = Endpoints()


@pages.get("/books", public=True)
async def books(call: Call):
    return call.public_page("books.html", title="<Dune>", count=3, later=LATER)


@pages.get("/api/v1/books", public=True)
async def books_as_data(call: Call):
    return call.public_page("books.html", title="", count=1, later=LATER)


class BooksApp(App):
    name = "books"
    endpoints = (pages,)


@pytest.fixture
def templates(tmp_path) -> Path:
    folder = tmp_path / "books" / "templates"
    folder.mkdir(parents=True)
    (folder / "books.html").write_text(TEMPLATE)
    catalogues = folder.parent / "locale" / "pl" / "LC_MESSAGES"
    catalogues.mkdir(parents=True)
    (catalogues / "books.po").write_text(POLISH)
    (catalogues / "scripts.po").write_text(OF_SCRIPTS)
    return folder


@pytest.fixture
def polish(templates):
    (language,) = languages_of([templates]).all[1:]
    speak(language)
    yield language
    speak(ENGLISH)


def shown(source, **context):
    return environment(()).from_string(source).render(context)


def test_a_text_is_looked_up_when_it_is_shown(polish):
    assert str(LATER) == f"{LATER}" == "Książki"
    assert shown("{{ later }}", later=LATER) == "Książki"
    speak(ENGLISH)
    assert str(LATER) == "Books"


def test_a_text_is_its_english_for_everything_else(polish):
    assert LATER == "Books"
    assert {LATER: 1}["Books"] == 1
    assert encode({"name": LATER, "all": [ngettext("%(num)s book", "%(num)s books", 2)]}) == (
        b'{"name":"Books","all":["2 books"]}'
    )
    with pytest.raises(NotImplementedError):
        encode({"name": object()})


def test_values_and_numbers_are_filled_in(polish):
    assert str(_("Lend %(title)s", title=LATER)) == "Pożycz: Książki"
    counts = (1, 2, 5, 22, 1234)
    assert [str(ngettext("%(num)s book", "%(num)s books", count)) for count in counts] == [
        "1 książka", "2 książki", "5 książek", "22 książki", "1\u00a0234 książki",
    ]  # fmt: skip
    speak(ENGLISH)
    assert [str(ngettext("%(num)s book", "%(num)s books", count)) for count in counts] == [
        "1 book", "2 books", "5 books", "22 books", "1,234 books",
    ]  # fmt: skip


def test_a_message_of_a_template_is_text_and_that_of_a_tag_is_markup():
    assert shown('{{ _("a < %(b)s", b=b) }}', b="<b>") == "a &lt; &lt;b&gt;"
    assert shown("{% trans b=b %}<i>{{ b }}</i> 5%{% endtrans %}", b="<b>") == "<i>&lt;b&gt;</i> 5%"
    assert shown('{{ ngettext("%(num)s <", "%(num)s <<", 2) }}') == "2 &lt;&lt;"
    assert shown("{% trans n=n %}<i>one</i>{% pluralize %}<i>{{ n }}</i>{% endtrans %}", n=2) == "<i>2</i>"
    assert shown('{% set text = _("a < b") %}{{ text }}{{ "-" ~ text }}') == "a &lt; b-a &lt; b"
    assert shown("{% trans %}\n  one\n  line\n{% endtrans %}") == "one line"


@pytest.mark.parametrize("source", ["{{ _(name) }}", '{{ _("Lend %(title)s") }}', "{{ _() }}"])
def test_what_cannot_be_translated_fails_when_it_is_compiled(source):
    with pytest.raises(TemplateSyntaxError):
        environment(()).from_string(source)


def test_a_translation_that_names_another_value_is_left_out(polish):
    made = environment((), language=polish).from_string('{{ _("It names %(nothing)s", nothing=1) }}')
    assert made.render() == "It names 1"


def test_texts_without_a_number_cost_nothing():
    code = environment(()).compile('<p>{{ _("Lend %(title)s", title=title) }}</p>', raw=True)
    plain = environment(()).compile("<p>Lend {{ title }}</p>", raw=True)
    assert code == plain


async def test_a_page_is_in_the_language_of_its_reader(tmp_path, templates):
    BooksApp.templates = templates
    async with suite_on(tmp_path, (BooksApp,)) as (client, _):
        page = await client.get("/books", headers={"accept-language": "pl-PL,pl;q=0.9,en;q=0.8"})
        assert '<html lang="pl" dir="ltr">' in page.text
        assert '<h1 title="Moje &#34;i&#34; twoje">Pożycz: &lt;Dune&gt;</h1>' in page.text
        assert "3 książki. Napisał(a) <b>&lt;Dune&gt;</b>" in page.text
        assert "<p>Książki, Not sure</p>" in page.text
        assert "accept-language" in page.headers["vary"]
        english = await client.get("/books", headers={"accept-language": "de, fr"})
        assert '<html lang="en" dir="ltr">' in english.text
        assert '<h1 title="Mine &amp; yours">Lend &lt;Dune&gt;</h1>' in english.text
        assert "3 books. By <b>" in english.text
        assert "<p>Books, Not sure</p>" in english.text
        as_data = await client.get("/api/v1/books", headers={"accept-language": "pl"})
        assert "1 book." in as_data.text


async def test_scripts_get_their_messages_from_one_file(tmp_path, templates):
    BooksApp.templates = templates
    async with suite_on(tmp_path, (BooksApp,)) as (client, _):
        page = await client.get("/books", headers={"accept-language": "pl"})
        address = next(part.split('"')[0] for part in page.text.split('src="') if "/locale/pl.js" in part)
        script = await client.get(address)
        assert "immutable" in script.headers["cache-control"]
        prefix = "globalThis.potluckWords = "
        assert script.text.startswith(prefix)
        messages = msgspec.json.decode(script.text.removeprefix(prefix).removesuffix(";\n"))
        assert messages["Saved"] == "Zapisano"
        assert messages["%(num)s shelf"] == {"one": "%(num)s półka", "few": "%(num)s półki", "many": "%(num)s półek"}
        assert "locale/" not in (await client.get("/books")).text


async def test_without_catalogues_nothing_varies_by_language(tmp_path):
    async with suite_on(tmp_path) as (client, _):
        page = await client.get("/style", headers={"accept-language": "pl"})
        assert page.headers["vary"] == "accept-encoding"


def test_an_edited_catalogue_is_read_again(templates):
    before = Templates((), [templates])
    file = templates.parent / "locale" / "pl" / "LC_MESSAGES" / "books.po"
    file.write_text(POLISH.replace("Książki", "Tomy"))
    after = Templates((), [templates])
    assert [made.languages.all[1].singular("Books") for made in (before, after)] == ["Książki", "Tomy"]


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("", []),
        ("de", ["de"]),
        ("en;q=0.5, DE-at, pl;q=0.8", ["de-at", "pl", "en"]),
        ("pl;q=0, *;q=0.1, de;q=nothing", ["*"]),
        (",;,=", ["="]),
    ],
)
def test_the_languages_of_a_header_come_in_order(header, tags):
    assert accepted(header) == tags


def test_a_language_is_found_by_its_tag_and_else_by_its_first_part(templates):
    languages = languages_of([templates])
    found = [languages.preferred(header).tag for header in ("pl", "pl-PL", "de, pl;q=0.1", "en, pl", "PL", "pll", "x")]
    assert found == ["pl", "pl", "pl", "en", "pl", "en", "en"]
    assert Languages().preferred("pl") is ENGLISH


def test_dates_numbers_and_lists_are_written_as_the_language_does(polish):
    at = datetime(2026, 12, 13, 15, 5, tzinfo=UTC)
    assert date_text(at, "moment") == "13 grudnia 2026 15:05"
    assert number_text(Decimal("12345.5")) == "12\u00a0345,5"
    assert list_text(["Anna", "Bo", "Cy"]) == "Anna, Bo i Cy"
    speak(ENGLISH)
    assert {style: date_text(at, style) for style in STYLES} == {
        "moment": "13 December 2026, 15:05",
        "full": "Sunday, 13 December 2026",
        "long": "13 December 2026",
        "day": "Sunday 13 December",
        "date": "13 December",
        "short": "13 Dec",
        "short with year": "13 Dec 2026",
        "month": "December 2026",
        "month name": "December",
        "short month": "Dec",
        "short month with year": "Dec 2026",
        "weekday": "Sunday",
        "short weekday": "Sun",
        "time": "15:05",
    }
    assert [number_text(number) for number in (0, 1.5, 12345, Decimal("2.50"))] == ["0", "1.5", "12,345", "2.50"]
    assert [number_text(number, 1) for number in (3, 3.14159)] == ["3.0", "3.1"]
    assert list_text(["Anna", "Bo", "Cy"]) == "Anna, Bo and Cy"
