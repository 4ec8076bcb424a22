"""The text of a ballot file, read in pieces: a million lines take no more memory than their distinct ones."""

import codecs
from collections import Counter
from collections.abc import Iterator
from typing import IO

from potluck.apps.polls.ballot_files.contents import NotBallots, Progress, UnreadableBallots

BYTES_AT_ONCE = 1 << 18
DIFFERENT_AT_ONCE = 400_000
# Binary files that people may have ballots in, by their first bytes.
KINDS = {
    b"PK\x03\x04": "a spreadsheet (.xlsx, .ods) or another archive; save it as CSV first",
    b"\xd0\xcf\x11\xe0": "a spreadsheet or document in an old format (.xls, .doc); save it as CSV first",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "compressed; unpack it first",
    b"SQLite format 3": "a database",
}
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class BallotSource:
    """A text file that can be read several times; refuses what is not text."""

    def __init__(self, file: IO[bytes], progress: Progress | None = None) -> None:
        self.progress = progress
        self._file = file
        self._file.seek(0)
        start = file.read(64)
        for mark, kind in KINDS.items():
            if start.startswith(mark):
                raise NotBallots(f"this is {kind}")
        self.size = 0
        # How many of these the file has, if it is UTF-8.
        self.quotes = 0
        self.comments = 0
        self.encoding = "utf-16" if start[:2] in UTF_16_MARKS else self._encoding()

    def lines(self) -> Iterator[str]:
        """Every line with its end, from the first."""
        rest = b""
        for block in self.blocks():
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                yield f"{line.decode()}\n"
        if rest:
            yield rest.decode()

    def counted_lines(self, skipped: int) -> Iterator[Counter[bytes]]:
        """Each distinct line after the first `skipped`, without its end, and how often it occurs.

        Usually in one part: a part is yielded early only when it has hundreds of thousands of distinct lines.
        """
        counted: Counter[bytes] = Counter()
        for lines in self.some_lines():
            if skipped:
                left = lines[skipped:]
                skipped -= len(lines) - len(left)
                lines = left
            counted.update(lines)
            if len(counted) > DIFFERENT_AT_ONCE:
                yield counted
                counted = Counter()
        yield counted

    def some_lines(self) -> Iterator[list[bytes]]:
        """Lines without their ends, a block of the file at a time; reports progress after each."""
        rest = b""
        done = 0
        for block in self.blocks():
            *lines, rest = (rest + block).split(b"\n")
            yield lines
            done += len(block)
            if self.progress and self.size:
                self.progress(min(1.0, done / self.size))
        if rest:
            yield [rest]

    def number_of(self, line: bytes, skipped: int) -> int:
        """The number of the first line equal to this one."""
        before = 0
        for lines in self.some_lines():
            for place, other in enumerate(lines, before + 1):
                if other == line and place > skipped:
                    return place
            before += len(lines)
        return before

    def text(self) -> str:
        return b"".join(self.blocks()).decode()

    def blocks(self) -> Iterator[bytes]:
        """The file in blocks, as UTF-8 with uniform line ends."""
        self._file.seek(0)
        if self.encoding != "utf-8":
            try:
                text = self._file.read().decode(self.encoding)
            except UnicodeError as problem:
                raise UnreadableBallots("", f"the text is not {self.encoding}") from problem
            yield text.replace("\r\n", "\n").replace("\r", "\n").encode(errors="replace")
            return
        if self._file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            self._file.seek(0)
        while block := self._file.read(BYTES_AT_ONCE):
            if block.endswith(b"\r"):
                block += self._file.read(1)
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield block

    def _encoding(self) -> str:
        """UTF-8, or else Windows-1252, which old spreadsheets still write."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        wrong: int | None = None
        self._file.seek(0)
        lines = 1
        while block := self._file.read(BYTES_AT_ONCE):
            if b"\0" in block:
                raise NotBallots("it has NUL bytes, so it is not text")
            if wrong is None:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError as problem:
                    wrong = lines + block.count(b"\n", 0, problem.start)
            lines += block.count(b"\n")
            self.size += len(block)
            self.quotes += block.count(b'"')
            self.comments += block.count(b"/*")
        if wrong is None:
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                wrong = lines
        if wrong is None:
            return "utf-8"
        self._file.seek(0)
        other = codecs.getincrementaldecoder("cp1252")()
        try:
            while block := self._file.read(BYTES_AT_ONCE):
                other.decode(block)
        except UnicodeDecodeError as problem:
            raise UnreadableBallots(f"line {wrong}", "the text is neither UTF-8 nor Windows-1252") from problem
        return "cp1252"
