"""Words that no docstring, comment, error or document uses, because an English-speaking engineer would not."""

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = re.compile(
    r"\b(whoever|whom|somebody|nobody|everybody|anybody|stands|is told|are told|so many|by hand|beside|at hand"
    r"|if you like|in play|for want of)\b",
    re.IGNORECASE,
)
# Parts of files that may have them, each with the reason.
ALLOWED = {
    "src/potluck/apps/library/demo.py": "titles of made-up books",
    "src/potluck/apps/journal/assistant/filter_phrases.py": "words of questions",
    "src/potluck/apps/journal/assistant/grammar.py": "words of questions",
    "src/potluck/apps/journal/assistant/limits.py": "words of questions",
    "src/potluck/apps/journal/assistant/wording.py": "words of questions",
}
TEXTS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}

FILES = sorted(
    file
    for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "src/**/*.py", "src/**/static/**/*.js")
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
                yield number, "".join(re.findall(r"//.*|/\*.*|^\s*\*.*", line))
        case _:
            # Fenced code has other people's texts, such as the output of commands.
            text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), file.read_text(), flags=re.M | re.S)
            yield from enumerate(text.splitlines(), 1)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_prose_uses_plain_words(file):
    allowed = str(file.relative_to(ROOT)) in ALLOWED
    lines = [(number, re.sub("`[^`]*`", "", line)) for number, line in prose(file)]
    found = [
        f"{file.relative_to(ROOT)}:{number}: {', '.join(words)}: {line.strip()}"
        for number, line in lines
        if (words := WORDS.findall(line))
    ]
    if found and not allowed:
        pytest.fail("Say this in plain words:\n" + "\n".join(found), pytrace=False)
    assert bool(found) == allowed, "nothing needs to be in ALLOWED for this file any more"
