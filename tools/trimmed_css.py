"""A style sheet without the rules that match nothing in our pages, and without variables that nothing reads."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

WORD = re.compile(r"[a-zA-Z][\w-]*")
TAG = r"<[a-z][^>]*>"
MARKED = {
    "templates/**/*.html": re.compile(rf"{TAG}|\{{[{{%].*?[}}%]\}}", re.DOTALL),
    "static/**/*.js": re.compile(rf"{TAG}|\"[^\"\n]*\"|`[^`]*`|\w+: \w+"),
    "*.py": re.compile(TAG),
}
# The direction of a language, which no template names.
ALWAYS = ["rtl"]
PAIR = re.compile(r"""\b(role|type)["']?\s*[:=]\s*["']?([\w-]+)""")
ELEMENT = re.compile(r"(?:^|(?<=[\s>+~,(]))[a-z][a-z0-9]*")
CLASS = re.compile(r"\.([\w-]+)")
ATTRIBUTE = re.compile(r"\[([\w-]+)(?:[~|^$*]?=\"?([^\]\"]*)\"?)?\]")
ALTERNATIVES = re.compile(r":(?:is|where)\(")
NEGATION = re.compile(r":(?:not|has)\(")
PSEUDO = re.compile(r"::?[\w-]+(?:\([^()]*\))?")
VARIABLE = re.compile(r"var\((--[\w-]+)")
# Only in a shadow tree, of which there is none.
HOST = ":host"
ROOT = re.compile(r":root|\[data-theme\S*|:not\(\[data-theme[^)]*\)+")


@dataclass
class Block:
    """A rule, or an at-rule with rules or declarations."""

    head: str
    declarations: list[str] = field(default_factory=list)
    blocks: list["Block"] = field(default_factory=list)

    def __str__(self) -> str:
        inside = ";".join(self.declarations) + "".join(map(str, self.blocks))
        return f"{self.head}{{{inside}}}\n" if inside else ""


class Used:
    """The words in templates and scripts. A name that is among them may be an element, a class or a value there.

    Only of roles and types of input the values are read, because most of those are words that occur anyway.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self._words = {word for text in texts for word in WORD.findall(text)}
        self._pairs = {f"[{name}={value}]" for text in texts for name, value in PAIR.findall(text)}

    def has(self, name: str) -> bool:
        """Whether there is this element or class, or all words of `[attribute=value]`."""
        if name.startswith(("[role=", "[type=")):
            return name in self._pairs
        return self._words.issuperset(WORD.findall(name))

    def matches(self, selector: str, left_out: set[str]) -> bool:
        """Whether it may match something; if not, what is missing is added to `left_out`."""
        if HOST in selector:
            return False
        selector = _without(NEGATION, selector)
        while ALTERNATIVES.search(selector):
            before, alternatives, after = _first_call(ALTERNATIVES, selector)
            # All of them, so that `left_out` has what each lacks.
            matching = [self.matches(alternative, left_out) for alternative in split(alternatives, ",")]
            if not any(matching):
                return False
            selector = before + after
        missing = {name for name in _named(PSEUDO.sub("", selector)) if not self.has(name)}
        left_out |= missing
        return not missing


def _named(selector: str) -> Iterator[str]:
    """The elements, classes and attributes that a plain selector names."""
    for name, value in ATTRIBUTE.findall(selector):
        yield f"[{name}={value}]" if value and WORD.fullmatch(value) else name
    plain = ATTRIBUTE.sub("", selector)
    yield from CLASS.findall(plain)
    yield from ELEMENT.findall(CLASS.sub("", plain))


def split(text: str, at: str) -> list[str]:
    """The parts of a text between these characters, but for those in brackets and strings."""
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == at and not depth:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def _first_call(name: re.Pattern[str], text: str) -> tuple[str, str, str]:
    """The text before, in and after the first brackets of this name."""
    found = name.search(text)
    assert found is not None
    depth = 1
    for position in range(found.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if not depth:
            return text[: found.start()], text[found.end() : position], text[position + 1 :]
    raise ValueError(text)


def _without(name: re.Pattern[str], text: str) -> str:
    while name.search(text):
        before, _, after = _first_call(name, text)
        text = before + after
    return text


def parsed(text: str) -> list[Block]:
    """The rules of a minified style sheet."""
    top = Block("")
    stack, start, quote = [top], 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "{":
            block = Block(text[start:position].strip())
            stack[-1].blocks.append(block)
            stack.append(block)
            start = position + 1
        elif character in ";}":
            declaration = text[start:position].strip()
            if declaration:
                stack[-1].declarations.append(declaration)
            if character == "}":
                stack.pop()
            start = position + 1
    return top.blocks


def trimmed(sheet: str, texts: Iterable[str], own: str) -> tuple[str, list[str]]:
    """The sheet with what `texts`, our templates and scripts, may use; and the names whose rules were left out.

    `own` are our style sheets. What they declare for :root outranks the same in this sheet.
    """
    used, left_out = Used(texts), set[str]()
    licence = re.search(r"/\*!.*?\*/", sheet, re.DOTALL)
    blocks = parsed(re.sub(r"@charset[^;]*;|/\*.*?\*/", "", sheet, flags=re.DOTALL))
    blocks = [kept for block in blocks if (kept := _kept(block, lambda head: used.matches(head, left_out))) is not None]
    overridden = {
        name
        for block in parsed(re.sub(r"@import[^;]*;|/\*.*?\*/", "", own, flags=re.DOTALL))
        if ":root" in split(block.head.replace(" ", ""), ",")
        for name in _variables(block)
    }
    for block in _all(blocks):
        if not ROOT.sub("", block.head).strip(" ,"):
            block.declarations = [line for line in block.declarations if line.partition(":")[0] not in overridden]
    while unread := _unread(blocks, own):
        for block in _all(blocks):
            block.declarations = [line for line in block.declarations if line.partition(":")[0] not in unread]
    return (licence[0] + "\n" if licence else "") + "".join(map(str, blocks)), sorted(left_out)


def _kept(block: Block, matches: Callable[[str], bool]) -> Block | None:
    if block.head.startswith("@"):
        if "keyframes" not in block.head:
            block.blocks = [kept for inner in block.blocks if (kept := _kept(inner, matches)) is not None]
        return block
    heads = [head for head in split(block.head, ",") if matches(head)]
    block.head = ",".join(heads)
    return block if heads else None


def _all(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from _all(block.blocks)


def _variables(block: Block) -> set[str]:
    return {line.partition(":")[0].strip() for line in block.declarations if line.startswith("--")}


def _unread(blocks: list[Block], own: str) -> set[str]:
    declared = {name for block in _all(blocks) for name in _variables(block)}
    return declared - {*VARIABLE.findall("".join(map(str, blocks))), *VARIABLE.findall(own)}


def texts_of(source: Path) -> list[str]:
    """What our templates and scripts may put into a page as elements and attributes: their tags and code, no prose."""
    return [
        found
        for pattern, marked in MARKED.items()
        for file in source.rglob(pattern)
        if "vendor" not in file.parts
        for found in marked.findall(file.read_text())
    ] + ALWAYS


def own_sheets(source: Path) -> list[Path]:
    return [file for file in sorted(source.rglob("static/**/*.css")) if "vendor" not in file.parts]
