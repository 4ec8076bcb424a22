"""Words that no page, docstring, comment, error or document uses, because an English-speaking engineer would not."""

import contextlib
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from potluck.commands.main import COMMANDS, main
from potluck.suite import APPS
from potluck.web import openapi
from potluck.web.people import PeopleApp
from tools.messages import METHODS, SUITE, collected

ROOT = Path(__file__).parent.parent
WORDS = re.compile(
    r"\b(whoever|whom|somebody|nobody|everybody|anybody|stands|is told|are told|so many|by hand|beside|at hand"
    r"|if you like|in play|for want of)\b",
    re.IGNORECASE,
)
# What pages, the API and the command line do not say either, though comments may.
WORDS_OF_TEXTS = re.compile(
    WORDS.pattern
    + r"|\b(lies (?:in|on|at|under|with|here|there)|it will do|take (?:it|them) off|take (?:one )?in|put (?:it )?up"
    r"|(?:has|have) ended|looks? in|your plate is empty|nothing is waiting|make an account|what people call you"
    r"|ever sent there|asks anybody|eats with you|the family called|things? (?:is|are) on the list|last fresh at"
    r"|carry on|changed twice|they come as|lets in one person|a fingerprint of|one to a line|after a bar"
    r"|one vote for each browser|the ballots having|that is counted|palest|elected from here|got an id"
    r"|nothing to open|put it on the table|what came in|reads with you|your midnight|say something else|lay out a"
    r"|called wrongly|go on with another)\b",
    re.IGNORECASE,
)
# Whole texts that were replaced by plainer ones, without their full stop.
REPLACED = {
    "come in", "do it", "for whom?", "lay the table", "leave it", "look after it", "make my account", "of what",
    "only here", "only some days", "stop", "vote yourself",
}  # fmt: skip
# Parts of files that may have them, each with the reason.
ALLOWED = {
    "src/potluck/apps/library/demo.py": "titles of made-up books",
    "src/potluck/apps/journal/assistant/filter_phrases.py": "words of questions",
    "src/potluck/apps/journal/assistant/grammar.py": "words of questions",
    "src/potluck/apps/journal/assistant/limits.py": "words of questions",
    "src/potluck/apps/journal/assistant/wording.py": "words of questions",
}
# Comments, and texts in quotes that have a space.
SCRIPT_TEXTS = re.compile(r"//.*|/\*.*|^\s*\*.*|\"[^\"]* [^\"]*\"|`[^`]* [^`]*`")
TEXTS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}

FILES = sorted(
    file
    for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "src/**/*.py", "src/**/static/**/*.js", "src/**/*.html")
    for file in ROOT.glob(pattern)
    if "vendor" not in file.parts and file.name != "CHANGELOG.md"
)


def prose(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that people read, each with its number: no code, and no words that are data."""
    match file.suffix:
        case ".py":
            with file.open("rb") as source:
                for token in tokenize.tokenize(source.readline):
                    if token.type in TEXTS and " " in token.string:
                        yield from enumerate(token.string.splitlines(), token.start[0])
        case ".js":
            for number, line in enumerate(file.read_text().splitlines(), 1):
                yield number, " ".join(SCRIPT_TEXTS.findall(line))
        case ".html":
            # Names in expressions are code.
            yield from enumerate(re.sub(r"\{%.*?%\}", "", file.read_text()).splitlines(), 1)
        case _:
            # Fenced code has other people's texts, such as the output of commands.
            text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), file.read_text(), flags=re.M | re.S)
            yield from enumerate(text.splitlines(), 1)


def refused(text: str, words: re.Pattern[str] = WORDS_OF_TEXTS) -> list[str]:
    return [found[0] for found in words.finditer(re.sub("`[^`]*`", "", text))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_prose_uses_plain_words(file):
    name = str(file.relative_to(ROOT))
    allowed = name in ALLOWED
    words = WORDS if file.suffix in (".md", ".py") else WORDS_OF_TEXTS
    found = [
        f"{name}:{number}: {', '.join(hits)}: {line.strip()}"
        for number, line in prose(file)
        if (hits := refused(line, words))
    ]
    if found and not allowed:
        pytest.fail("Say this in plain words:\n" + "\n".join(found), pytrace=False)
    assert bool(found) == allowed, "nothing needs to be in ALLOWED for this file any more"


def texts_of_pages() -> Iterator[tuple[str, str]]:
    for name in METHODS:
        for message in collected(SUITE, name):
            for text in [message.id] if isinstance(message.id, str) else message.id:
                yield f"{name}: {', '.join(file for file, _ in message.locations)}", text


def texts_of_the_api() -> Iterator[tuple[str, str]]:
    apps = [PeopleApp, *APPS]
    document = openapi.document([subject for app in apps for subject in app.subjects])
    pending: list[tuple[str, Any]] = [("", document)]
    while pending:
        at, node = pending.pop()
        for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
            if key in ("summary", "description", "title") and isinstance(value, str):
                yield f"{at}/{key}", value
            pending.append((f"{at}/{key}", value))


def texts_of_commands() -> Iterator[tuple[str, str]]:
    for name in COMMANDS:
        with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()) as printed:
            main([name, "--help"])
        yield f"potluck {name}", printed.getvalue()


@pytest.mark.parametrize("texts", [texts_of_pages, texts_of_the_api, texts_of_commands])
def test_texts_that_were_replaced_do_not_come_back(texts):
    found = [f"{place}: {text}" for place, text in texts() if refused(text) or text.lower().rstrip(".") in REPLACED]
    if found:
        pytest.fail("Say this in plain words:\n" + "\n".join(found), pytrace=False)
