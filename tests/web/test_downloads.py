from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.web.downloads import DEVICES, MOST_BYTES, REFUSED, attachment, file_name

NAMES = {
    ("Where to?", "results"): "Where to - results.csv",
    ("Living room",): "Living room.csv",
    ("Wohnzimmer – Bücher",): "Wohnzimmer – Bücher.csv",
    ("../../etc/passwd",): "etc passwd.csv",
    ("C:\\Windows\\system.ini",): "C Windows system.ini.csv",
    ("a\r\nSet-Cookie: b",): "a Set-Cookie b.csv",
    # A right-to-left override would show this as "reports.exe".
    ("repo\u202eexe.str",): "repo exe.str.csv",
    (".hidden",): "hidden.csv",
    ("--help",): "help.csv",
    ("con",): "_con.csv",
    ("con .x",): "_con .x.csv",
    ("COM¹",): "_COM¹.csv",
    ("Aux.2",): "_Aux.2.csv",
    ("",): "potluck.csv",
    ("???", "ballots"): "ballots.csv",
    ("書" * 100, "results"): "書" * 55 + " - results.csv",
}


@pytest.mark.parametrize("names", NAMES)
def test_a_file_is_named_after_what_it_is_made_from(names):
    assert file_name("csv", *names) == NAMES[names]


def test_the_header_has_the_name_in_ascii_and_whole():
    assert attachment("csv", "Trip", "results") == {"content-disposition": 'attachment; filename="Trip - results.csv"'}
    header = attachment("json", "Żółć 50%")["content-disposition"]
    assert header == "attachment; filename=\"Zo_c 50_.json\"; filename*=UTF-8''%C5%BB%C3%B3%C5%82%C4%87%2050%25.json"


@given(st.text(max_size=300), st.sampled_from(["", "results"]))
def test_whatever_people_call_things_the_header_is_one_line_with_a_safe_name(title, ours):
    header = attachment("csv", title, ours)["content-disposition"]
    assert header.isascii()
    assert header.isprintable()
    plain = header.removeprefix('attachment; filename="').partition('"')[0]
    _, found, encoded = header.partition("filename*=UTF-8''")
    for name in (plain, *([unquote(encoded, errors="strict")] if found else [])):
        assert not REFUSED & set(name)
        assert name.endswith(".csv")
        assert name[0] not in ".-~ "
        assert not DEVICES.fullmatch(name.partition(".")[0])
    assert len(file_name("csv", title, ours).encode()) <= MOST_BYTES
