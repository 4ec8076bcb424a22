"""A household's library of 1,995 books and videos to search, and what people type to find something in it.

Titles, names and series are made up from the words below,
"""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.typing_errors import dropped, shuffled, typo
from potluck.apps.library.isbn import check_digit
from potluck.apps.library.search_words import words_of

__all__ = ["CLASSES", "MANY", "Question", "Thing", "household", "questions"]

MANY = 1995
FOUND_FIRST = 10

# Everything is made of these.
WORDS = {
    "given names": """
Ada Adrian Agnes Albert Alma Amélie André Anna Anton Astrid Ben Bérénice Bohdan Boris Carla Carmen Cédric Chiara Clara
Claude Cormac Dana Daniel Dmitri Edith Elena Élise Emil Emma Erik Esther Eva Félix Fiona Frida Gabriel Georg Gita
Greta Hana Hannah Harper Helen Henrik Hugo Ida Ines Ingrid Irène Isaac Ivan Jan Jane João Johan Jonas José Julia
Jürgen Karin Karl Kurt Lars Leo Leonora Lídia Linus Lucía Ludwig Magda Marco María Marta Matteo Maud Mikhail Milan
Milena Miriam Nadia Niels Nikolai Nora Olga Oskar Otto Pablo Paul Pavel Pedro Petra Pierre Rafael Renée Rosa Ruth
Sándor Selma Simone Sofia Søren Stefan Svetlana Sylvia Tamsin Teresa Thomas Tove Umberto Ursula Václav Vera Viktor
Virginia Walter Wisława Yusuf Zadie Zora Øyvind Åsa Łukasz
""",
    "surnames": """
Abramov Achterberg Adeyemi Ahlgren Alcott Almqvist Andrić Ashworth Aubert Bakhtin Balogh Barnaby Bartók Beaumont
Bengtsson Bergman Bianchi Björk Blackwood Blixen Bogdanov Bondarenko Borges Brandt Brontë Bulgakov Burke Calloway
Calvino Carrère Castellanos Čapek Chatwin Christensen Colette Cortázar Cvetkov Dahl Delacroix Deledda Dickens Donoso
Dostoevsky Dragić Dubois Dürrenmatt Eco Ekberg Eliot Ellison Enard Erdrich Esterházy Faulkner Ferrante Fiedler
Fitzgerald Flaubert Fontane Forster Fosse Fuentes Galgut García Gaskell Gautier Ginzburg Goethe Gogol Gonçalves
Gordimer Grass Greene Grimaldi Grossman Gurnah Hamsun Handke Hardy Hašek Hawthorne Heaney Hemingway Herrera Hesse
Highsmith Hoffmann Holmqvist Hrabal Huxley Ibsen Ishiguro Ivanova Jansson Jelinek Jespersen Joyce Jünger Kadare Kafka
Karlsson Kawabata Kertész Kipling Kiš Kjærstad Klíma Kovács Krasznahorkai Kristof Kundera Lagerlöf Lampedusa Larsen
Lawrence Leroux Lermontov Lessing Levi Lindgren Lispector Llosa Lorde Łysiak MacDonald Magris Mahfouz Malamud Manguel
Mann Mansfield Marías Marlowe Márquez Maupassant McCarthy McEwan Melville Mészáros Mikkelsen Milosz Mishima Mistral
Modiano Moravec Moravia Morrison Müller Munro Murdoch Musil Nabokov Naipaul Némirovsky Neruda Nesbø Nilsson Nooteboom
Novak Oates O'Brien O'Connor Okri Oliveira Ondaatje Orwell Østergaard Oyeyemi Oz Pamuk Pasternak Pavese Paz Perec
Pessoa Petrović Pirandello Platonov Pontoppidan Popescu Proust Pushkin Quiroga Rasmussen Remarque Rhys Ribeiro Rilke
Rivière Rodoreda Rossi Roth Roy Rulfo Rushdie Sábato Sagan Saint-Exupéry Salgado Sandoval Saramago Sarraute Sartre
Schiller Schnitzler Schulz Sciascia Sebald Seghers Seifert Shelley Sienkiewicz Simenon Škvorecký Smirnova Söderberg
Solzhenitsyn Sontag Soyinka Stein Steinbeck Stendhal Sterne Strindberg Svevo Szabó Szymborska Tagore Tanizaki
Tokarczuk Tolstoy Tournier Transtrømer Tsvetaeva Turgenev Ulitskaya Undset Updike Vargas Vasik Verga Vesaas Villanueva
Vonnegut Walser Weil Wharton Whitman Wilde Winterson Wittlin Wolf Woolf Xavier Yates Yourcenar Zamyatin Zeh Zola Zweig
Zwetajewa Żeromski
""",
    "adjectives": """
silent crooked golden last forgotten distant little broken hidden second burning frozen hollow patient restless blue
scarlet northern empty secret wandering ancient quiet bitter gentle borrowed unlikely pale seventh long perfect stolen
invisible white drowned lonely
""",
    "nouns": """
harbour lantern orchard winter river mirror garden clockmaker island letter kitchen mountain shadow engine widow
cartographer bridge forest summer train piano window ferry library storm baker moth ladder ocean stone sparrow tailor
violin desert tower candle village market teacher painter salt copper station cellar meadow feather compass anchor
paper thief emperor daughter brother captain keeper stranger rainbow silence memory lighthouse clock beekeeper archive
glacier monsoon almanac labyrinth translator carousel pilgrim astronomer
""",
    "places": """
Lisbon Trieste Odessa Kyoto Marrakesh Bergen Prague Dublin Havana Samarkand Bruges Kraków Tangier Naples Riga
Alexandria Montevideo Reykjavík Salamanca Tbilisi Valparaíso Zanzibar
""",
}
GIVEN_NAMES, SURNAMES, ADJECTIVES, NOUNS, PLACES = map(str.split, WORDS.values())
INITIALS = ("J. R. R. Thornbury", "C. S. Lavelle", "E. T. A. Hollander", "W. G. Sanders", "J. M. Coles", "P. D. Jarrow")
ENGLISH = (
    "The {a} {n}", "A {n} in {p}", "The {n} and the {m}", "{n} of the {a} {m}", "The {n}'s Daughter", "{a} {n}s",
    "The {a} {n} of {p}", "Under the {n}s of {p}", "Letters from {p}", "The {n} Who Lost {p}", "{m} {n}",
    "No {n} in {p}", "How to Find a {a} {n}", "The {m} at the End of the {n}",
)  # fmt: skip
FRENCH = ("L'{fv} de {p}", "La {ff} et l'{fv}", "Les {d} {fp}", "Un {fm} à {p}", "Le {fm} de l'{fv}")
FRENCH_WORDS = {
    "fv": "été hiver étranger écume oiseau horloge île ombre encre écolier automne orage",
    "ff": "maison forêt lumière fenêtre rivière lettre bibliothèque crème tempête",
    "fm": "château garçon silence théâtre jardin phare dîner voyage cœur",
    "fp": "enfants étoiles fenêtres saisons frères œuvres lettres",
    "d": "trois quatre sept douze 9 100",
}
GERMAN = ("Der {gm} von {p}", "Die {gf} im {gm}", "Das {gn} der {gf}", "Ein {gm} für die {gf}")
GERMAN_WORDS = {
    "gm": "Schatten Uhrmacher Gärtner Fluss Spiegel Zauberberg König Schlüssel Müller",
    "gf": "Brücke Straße Verwandlung Küste Nacht Wölfin Erzählung Lüge",
    "gn": "Schloss Gedächtnis Märchen Geräusch Fenster Glück",
}
NUMBERED = (
    "20 000 lieues sous les vagues", "1Q94", "1948", "Fahrenheit 542", "Room 237", "101 Ways to Bake Bread",
    "The 39 Stairs", "100 Years of Quiet", "Twelve Angry Bakers", "7½ Deaths of a Clockmaker", "300",
    "10 Little Sailors", "2046", "8½ Lanterns", "80 Days Around the Garden", "22 November", "1,001 Evenings",
    "Apollo 9", "Apollo 10",
)  # fmt: skip
ONE_LETTER = tuple("VZMQSWKXJ")
CHINESE = (
    ("红楼的窗", "曹文轩"), ("边城灯火", "沈从云"), ("活着的河", "余华"), ("围城以外", "钱锺书"),
    ("骆驼与海", "老舍"), ("三体之后", "刘慈欣"), ("雪国列车", "川端康成"), ("挪威的森", "村上春樹"),
    ("雪国", "川端康成"), ("金閣", "三島由紀夫"), ("こころの庭", "夏目漱石"), ("人間の街", "太宰治"),
    ("羅生の門", "芥川龍之介"), ("キッチン便り", "吉本ばなな"), ("채식의 밤", "한강"), ("엄마의 정원", "신경숙"),
    ("黄金時代", "王小波"), ("紅い高粱", "莫言"), ("家", "巴金"), ("茶館", "老舍"),
)  # fmt: skip
SERIES = (
    "Inspector Vasik", "The Lantern Chronicles", "Harbour Nights", "Cycle de l'Hiver", "Das Uhrwerk",
    "Tales of Saltmarsh", "Orla Finch", "The Cartographer's Apprentice", "Les Dragons d'Ambre", "Nordlys",
    "Moth & Candle", "Emperor of Glass", "Prudence Ashdown", "Jack Tarrant", "The Copper Road", "Sister Bernadette",
    "Étoile Filante", "Kapitän Brandt", "The Beekeeper Mysteries", "Lost Ferries", "Barnaby Pott", "Winterhold",
    "The Tin Astronaut", "Rue des Ombres", "Signal Fires", "The Quiet Empire", "Salt & Iron", "Valkyrie Station",
    "The Pilgrim Cycle", "Foxglove Lane", "Sept Royaumes", "Ravens of Riga",
)  # fmt: skip
UNLIKELY = (
    "zxqwv plorth", "sourdough quantum blockchain", "brzęczyszczykiewicz", "kubernetes handbook", "qqqqqqqqqq",
    "xylophonist", "pqrst uvwxy", "cryptocurrency taxation", "gluten free muffins", "javascript", "turbo encabulator",
    "fjordland zkx", "vuvuzela repair", "hovercraft eels", "thermodynamics problems", "spreadsheet basics",
    "9780000000002", "zumba fitness", "嘟嘟車", "yoga pants", "carburettor maintenance", "mlkjh", "wifi password",
    "ukulele chords", "jjjj",
)  # fmt: skip


class Thing(NamedTuple):
    """A book or a video of the household."""

    number: int
    title: str
    people: tuple[str, ...]
    is_video: bool = False
    series: str | None = None
    volume: int | None = None
    isbn: str | None = None


class Question(NamedTuple):
    """What is typed, and the numbers of the things that are meant."""

    text: str
    meant: frozenset[int]


def household(many: int = MANY) -> list[Thing]:
    """So many things, always the same ones."""
    drawn = random.Random(1995)
    surnames = drawn.sample(SURNAMES, len(SURNAMES))
    # Some people have written a shelf of books, most have one.
    shares = [1 / (rank + 3) for rank in range(len(surnames))]
    full_names: dict[str, list[str]] = {name: [f"{drawn.choice(GIVEN_NAMES)} {name}"] for name in surnames}
    for name in drawn.sample(surnames, 60):
        full_names[name].append(f"{drawn.choice(GIVEN_NAMES)} {name}")

    def person() -> str:
        if drawn.random() < 0.02:
            return drawn.choice(INITIALS)
        return drawn.choice(full_names[drawn.choices(surnames, shares)[0]])

    def isbn() -> str:
        twelve = "978" + "".join(drawn.choices("0123456789", k=9))
        return twelve + check_digit(twelve)

    things: list[Thing] = []
    titles: set[str] = set()

    def add(
        title: str,
        people: tuple[str, ...],
        *,
        video: bool = False,
        series: str | None = None,
        volume: int | None = None,
    ) -> None:
        if title not in titles and len(things) < many:
            titles.add(title)
            number = None if video else isbn()
            things.append(Thing(len(things), title, people, video, series, volume, number))

    for title, by in CHINESE:
        add(title, (by,))
    for title in (*NUMBERED, *ONE_LETTER):
        video = drawn.random() < 0.4
        add(title, (person(), person()) if video else (person(),), video=video)
    for series in SERIES:
        by = (person(),)
        for volume in range(1, drawn.randint(3, 9) + 1):
            add(_title(drawn), by, series=series, volume=volume)
    # Everybody has at least one title, then shelves fill up.
    for name in surnames:
        add(_title(drawn), (full_names[name][0],))
    while len(things) < many:
        if drawn.random() < 0.25:
            add(_title(drawn), tuple(person() for _ in range(drawn.randint(2, 5))), video=True)
        else:
            add(_title(drawn), tuple(person() for _ in range(1 if drawn.random() < 0.9 else 2)))
    drawn.shuffle(things)
    return [thing._replace(number=number) for number, thing in enumerate(things)]


def _title(drawn: random.Random) -> str:
    place = drawn.choice(PLACES)
    kind = drawn.random()
    if kind < 0.12:
        return drawn.choice(FRENCH).format(
            p=place, **{name: drawn.choice(words.split()) for name, words in FRENCH_WORDS.items()}
        )
    if kind < 0.2:
        return drawn.choice(GERMAN).format(
            p=place, **{name: drawn.choice(words.split()) for name, words in GERMAN_WORDS.items()}
        )
    noun, other = drawn.sample(NOUNS, 2)
    return drawn.choice(ENGLISH).format(
        a=drawn.choice(ADJECTIVES).capitalize(), n=noun.capitalize(), m=other.capitalize(), p=place
    )


# --- what people type -------------------------------------------------------------------------------------------------


def _folded(text: str) -> str:
    return " ".join(words_of(text))


def _is_latin(text: str) -> bool:
    return all(each < "\u0250" or not each.isalpha() for each in text)


class Desk:
    """Where questions are made, with what is needed to say which things they mean."""

    def __init__(self, things: list[Thing], seed: str) -> None:
        self.things = things
        self.drawn = random.Random(seed)
        self.folded = [(_folded(thing.title), thing.number) for thing in things]
        self.by_word: dict[str, set[int]] = {}
        self.by_person: dict[str, set[int]] = {}
        self.by_series: dict[str, set[int]] = {}
        for thing in things:
            for person in thing.people:
                self.by_person.setdefault(person, set()).add(thing.number)
            if thing.series is not None:
                self.by_series.setdefault(thing.series, set()).add(thing.number)
            for text in (thing.title, *thing.people, thing.series or ""):
                for word in words_of(text):
                    self.by_word.setdefault(word, set()).add(thing.number)

    def latin(self) -> Iterator[Thing]:
        """Things with a title of several words in Latin letters, in any order, again and again."""
        fit = [thing for thing in self.things if _is_latin(thing.title) and len(thing.title) > 6]
        while True:
            yield self.drawn.choice(fit)

    def titled(self, text: str) -> frozenset[int]:
        return frozenset(number for folded, number in self.folded if folded == _folded(text))

    def surnames(self, videos: bool | None = None, place: int | None = None) -> list[tuple[str, frozenset[int]]]:
        """Each surname, and the things that any person of that name is in."""
        found = []
        for surname in SURNAMES:
            meant = set()
            for person, numbers in self.by_person.items():
                if person.endswith(f" {surname}"):
                    for number in numbers:
                        thing = self.things[number]
                        if videos is None or (
                            thing.is_video == videos and (thing.people.index(person) == 0) == (place == 0)
                        ):
                            meant.add(number)
            if meant and len(_folded(surname)) > 3:
                # Whatever has the name as a word is an answer to it.
                word = _folded(surname)
                meant_too = self.by_word.get(word, set()) if " " not in word else set()
                found.append((surname, frozenset(meant | meant_too)))
        return found


def _titles(desk: Desk, change: Callable[[str, random.Random], str]) -> Iterator[Question]:
    for thing in desk.latin():
        text = change(_folded(thing.title), desk.drawn)
        said = set(text.split())
        fit = [number for folded, number in desk.folded if folded.startswith(text) or said <= set(folded.split())]
        # If more titles fit than are looked at, it cannot be said which one is meant.
        if len(fit) <= FOUND_FIRST:
            yield Question(text, frozenset(fit) or desk.titled(thing.title))


def _typed_title(desk: Desk) -> Iterator[Question]:
    for thing in desk.latin():
        yield Question(typo(_folded(thing.title), desk.drawn), desk.titled(thing.title))


def _part(text: str, drawn: random.Random) -> str:
    return text[: max(4, round(len(text) * 0.6))]


def _surnames(desk: Desk, change: Callable[[str], str] = str.lower, **which: int | bool) -> Iterator[Question]:
    names = desk.surnames(**which)  # type: ignore[arg-type]
    for name, meant in desk.drawn.sample(names, len(names)):
        yield Question(change(name), meant)


def _full_names(desk: Desk) -> Iterator[Question]:
    for person, meant in desk.drawn.sample(sorted(desk.by_person.items()), len(desk.by_person)):
        yield Question(person, frozenset(meant))


def _collections(desk: Desk, change: Callable[[str], str] = str.lower) -> Iterator[Question]:
    for series, meant in sorted(desk.by_series.items()):
        yield Question(change(series), frozenset(meant))


def _volumes(desk: Desk) -> Iterator[Question]:
    for thing in desk.drawn.sample(desk.things, len(desk.things)):
        if thing.series is not None:
            word = max(words_of(thing.series), key=len)
            if all(
                each.series == thing.series
                for each in desk.things
                if word in _folded(f"{each.title} {each.series}").split()
            ):
                yield Question(f"{word} {thing.volume}", frozenset({thing.number}))


def _isbns(desk: Desk, spelt: Callable[[str], str | None]) -> Iterator[Question]:
    for thing in desk.drawn.sample(desk.things, len(desk.things)):
        text = None if thing.isbn is None else spelt(thing.isbn)
        if text is not None:
            yield Question(text, frozenset({thing.number}))


def _isbn_10(isbn: str) -> str:
    rest = sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), isbn[3:12], strict=True)) % 11
    return isbn[3:12] + "0123456789X"[(11 - rest) % 11]


def _unspaced(desk: Desk) -> Iterator[Question]:
    """Two characters of a Chinese or Japanese name or title."""
    texts = sorted(
        {text for pair in CHINESE for text in pair if text[0] > "\u3000" and text[0] < "\uac00" and len(text) > 1}
    )
    for text in texts:
        start = desk.drawn.randrange(len(text) - 1)
        part = text[start : start + 2]
        yield Question(part, frozenset(t.number for t in desk.things if part in " ".join((t.title, *t.people))))


def _plain(desk: Desk) -> Iterator[Question]:
    """Titles with accents, ligatures and strokes, typed without."""
    for thing in desk.drawn.sample(desk.things, len(desk.things)):
        if not thing.title.isascii() and _is_latin(thing.title) and "½" not in thing.title:
            yield Question(_folded(thing.title), desk.titled(thing.title))


CLASSES: dict[str, Callable[[Desk], Iterator[Question]]] = {
    "exact title": lambda desk: _titles(desk, lambda text, drawn: text),
    "title, one typo": _typed_title,
    "title, first 60 %": lambda desk: _titles(desk, _part),
    "title, a word left out": lambda desk: _titles(desk, dropped),
    "title, words out of order": lambda desk: _titles(desk, shuffled),
    "surname": _surnames,
    "surname, one typo": lambda desk: _surnames(desk, lambda name: typo(name.lower(), desk.drawn)),
    "full name": _full_names,
    "director": lambda desk: _surnames(desk, videos=True, place=0),
    "actor": lambda desk: _surnames(desk, videos=True, place=1),
    "collection": _collections,
    "collection, one typo": lambda desk: _collections(desk, lambda name: typo(name.lower(), desk.drawn)),
    "number in a series": _volumes,
    "ISBN": lambda desk: _isbns(desk, str),
    "ISBN with hyphens": lambda desk: _isbns(
        desk, lambda isbn: f"{isbn[:3]}-{isbn[3]}-{isbn[4:7]}-{isbn[7:12]}-{isbn[12]}"
    ),
    "ISBN-10": lambda desk: _isbns(desk, _isbn_10),
    "ISBN, one digit wrong": lambda desk: _isbns(desk, lambda isbn: isbn[:6] + str((int(isbn[6]) + 1) % 10) + isbn[7:]),
    "one-letter title": lambda desk: (Question(each, desk.titled(each)) for each in ONE_LETTER),
    "two characters, CJK": _unspaced,
    "accents left out": _plain,
    "nothing to be found": lambda desk: (Question(each, frozenset()) for each in UNLIKELY),
}


def questions(things: list[Thing], most: int = 150) -> dict[str, list[Question]]:
    """Up to so many different questions of each class, always the same ones."""
    asked: dict[str, list[Question]] = {}
    for name, make in CLASSES.items():
        found: dict[str, Question] = {}
        for tries, question in enumerate(make(Desk(things, name))):
            found.setdefault(question.text, question)
            if len(found) >= most or tries > 20 * most:
                break
        asked[name] = list(found.values())
    return asked
