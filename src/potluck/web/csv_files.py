"""CSV files that people download: opened by a spreadsheet with every letter as written, and no formula run."""

import codecs
import re
from collections.abc import Callable, Mapping
from typing import Any

CsvColumns = Mapping[str, str | Callable[[Mapping[str, Any]], str]]
"""The names of a CSV's columns, each with the path of its value in a row of JSON, or what makes it of the row."""

BYTE_ORDER_MARK = codecs.BOM_UTF8
"""Without it, Excel reads the file in the encoding of its country, and "é" as "Ã©"."""

# What spreadsheets take for a formula: one of the signs, also in full width, behind whatever they skip; or a tab or the
# end of a line, behind which some of them look too.
RUN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff'\"`‘’“”]*[=+\-@＝＋－＠]|[ '\"]*[\t\r\n]")
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def inert(text: str) -> str:
    """The text, with an apostrophe in front if a spreadsheet could run it as a formula; numbers stay numbers."""
    return f"'{text}" if RUN.match(text) and not NUMBER.fullmatch(text) else text
