"""HTML in a form that two renderings of one page share: tags with sorted attributes, words with folded space."""

import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from typing import Any

__all__ = ["parts_of", "read_page"]

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])

# Attributes that are different in every run.
RANDOM = {"data-person": "<person>", "data-mark": "<mark>", "data-draft-key": "<key>"}
# A short id as it is shown large, and letter by letter to screen readers.
LARGE_ID = re.compile(r"([a-z]{3})<i>-</i>([a-z]{3})<i>-</i>([0-9]{5})")
SPELLED_ID = re.compile(r">[a-z] [a-z] [a-z], [a-z] [a-z] [a-z], [0-9] [0-9] [0-9] [0-9] [0-9]<")
# What lists candidates as they were drawn by lot, and one of them.
DRAWN = ('class="lots"', 'class="lots-line"')
LOT = re.compile(r"<(li|bdi)\b[^>]*>(.*?)</\1>(.*)")


class Reader(HTMLParser):
    """One line for each tag that begins, with the words that follow it and the tags that end there."""

    def __init__(self, known: Callable[[str], str], known_json: Callable[[Any], Any]) -> None:
        super().__init__()
        self._known = known
        self._known_json = known_json
        self.lines: list[str] = []
        self._drawing: list[str] | None = None

    def handle_decl(self, decl: str) -> None:
        self.lines.append(f"<!{decl.lower()}>")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        written = "".join(
            f" {name}" if value is None else f' {name}="{self._value(name, value)}"'
            for name, value in sorted(attrs, key=lambda pair: pair[0])
        )
        if self._drawing is not None:
            self._drawing.append(f"<{tag}{written}>")
            return
        self.lines.append(f"<{tag}{written}>")
        if tag == "svg":
            self._drawing = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "svg" and self._drawing is not None:
            self.lines[-1] += drawing(self._drawing, self.lines[-1]) + "</svg>"
            self._drawing = None
        elif self._drawing is None and tag not in VOID:
            self.lines[-1:] = [(self.lines[-1] if self.lines else "") + f"</{tag}>"]

    def handle_data(self, data: str) -> None:
        words = self._words(data)
        if not words:
            return
        if self._drawing is not None:
            self._drawing.append(words)
        elif self.lines:
            self.lines[-1] += words
        else:
            self.lines.append(words)

    def _value(self, name: str, value: str) -> str:
        if name in RANDOM:
            return RANDOM[name] if value else ""
        if name == "class":
            value = " ".join(sorted(value.split()))
        return escape(self._known(" ".join(value.split())))

    def _words(self, data: str) -> str:
        if data.lstrip().startswith(('{"', '[{"')):
            try:
                told = self._known_json(json.loads(data))
            except ValueError:
                pass
            else:
                return json.dumps(told, sort_keys=True, ensure_ascii=False)
        return self._known(" ".join(data.split()))


def drawing(inside: list[str], around: str) -> str:
    """An icon by its name; another drawing by its words and a number that changes when any of it does."""
    if len(inside) == 1 and inside[0].startswith("<use "):
        return inside[0]
    words = " ".join(each for each in inside if not each.startswith("<"))
    # A code to be photographed has the random id of what it leads to in every line.
    number = "" if "QR code" in around else " " + sha256("".join(inside).encode()).hexdigest()[:8]
    return f"[{len(inside)} pieces{number}]{words}"


def read_page(text: str, known: Callable[[str], str], known_json: Callable[[Any], Any]) -> list[str]:
    """The page's lines; `known` and `known_json` put in stable names for what differs between runs."""
    reader = Reader(known, known_json)
    reader.feed(SPELLED_ID.sub(">(spelled id)<", LARGE_ID.sub(r"\1-\2-\3", text)))
    reader.close()
    return list(_lots_in_one_order(reader.lines))


def _lots_in_one_order(lines: list[str]) -> Iterator[str]:
    """Candidates in the order of their lots, which is another in every run, by their names."""
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if not any(mark in line for mark in DRAWN):
            yield line
            continue
        names, rest = [], ""
        while at < len(lines) and (match := LOT.fullmatch(lines[at])):
            names.append(match[2])
            rest, at = match[3], at + 1
        yield f"{line}{', '.join(sorted(names))}{rest}"


def parts_of(lines: list[str]) -> tuple[list[str] | None, list[str]]:
    """What stands around the main part, and that; a piece of a page has nothing around it."""
    start = next((at for at, line in enumerate(lines) if line.startswith("<main")), None)
    if start is None:
        return None, lines
    end = next(at for at, line in enumerate(lines) if "</main>" in line)
    title = next((line for line in lines[:start] if line.startswith("<title>")), "")
    around = [line for line in lines[:start] if line != title] + ["<!-- main -->"] + lines[end + 1 :]
    return around, [title, *lines[start : end + 1]]
