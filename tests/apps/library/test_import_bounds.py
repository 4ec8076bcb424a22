"""Files that take long to take apart are refused by a look at their lines, before anything else is done."""

import pytest

from potluck.apps.library.import_columns import MOST_COLUMNS
from potluck.apps.library.import_files import LONGEST_LINE, MOST_LINES, UnreadableFile, must_have_lines
from potluck.apps.library.importing import ImportFile, _parsed
from potluck.web.inputs import UNSET

FORMATS = ("csv", "goodreads", "isbns", "titles", UNSET)


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("line", ["x", ",", '"', " ", "9", "978-"])
def test_a_line_that_is_too_long_is_refused_whatever_the_format(format, line):
    for text in (line * (2 * LONGEST_LINE), f"title,isbn\n{line * (2 * LONGEST_LINE)}\n"):
        with pytest.raises(UnreadableFile, match="longer than 100,000 characters"):
            _parsed(ImportFile(text=text, format=format))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_any_end_are_measured(end):
    longest = "x" * (LONGEST_LINE - 1)
    must_have_lines(end.join([longest, "", longest, "y", longest]))
    must_have_lines(end.join(["x" * 60_000] * 20))
    for text in (f"{longest}xx", f"a{end}{longest}xx", f"a{end}{longest}xx{end}b"):
        with pytest.raises(UnreadableFile):
            must_have_lines(text)


def test_lines_and_columns_are_counted():
    with pytest.raises(UnreadableFile, match="more than 400,000 lines"):
        _parsed(ImportFile(text="a\n" * (MOST_LINES + 1)))
    header = ",".join(["title", *(f"column {number}" for number in range(MOST_COLUMNS))])
    for format in ("csv", UNSET):
        with pytest.raises(UnreadableFile, match="at most 100 columns"):
            _parsed(ImportFile(text=f"{header}\nOne\n", format=format))
