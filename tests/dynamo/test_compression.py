"""Which form of an answer a client asks for, read as the service reads it."""

import gzip
import time

import pytest

from potluck.dynamo.compression import expanded, preferred

ASKED = {
    "": None,
    "identity": None,
    "br": None,
    "zstd": None,
    "compress": None,
    "x-gzip": None,
    "gzip, deflate": "gzip",
    "br, identity, deflate, gzip": "deflate",
    "GZIP, identity": "gzip",
    "dog, gzip ,, cat": "gzip",
    "gzip;q=0.8, deflate;q=0.5": "gzip",
    "br, gzip;q=0, deflate; q = 0.5 , identity;q=0": "deflate",
    "*": "gzip",
    "*, deflate;q=0.5": "gzip",
    "*, deflate": "deflate",
    "*, identity": "gzip",
    "*, gzip;q=0.5": "deflate",
    "gzip;q=0, *": "deflate",
    "gzip ;q=0": None,
    "identity;q=0": None,
    "*;q=0": None,
    "*;q=0.5,identity": "gzip",
    "gzip;q=0.5,identity;q=0.8": "gzip",
    "br;q=0.8,identity;q=0.5,*;q=0": None,
    '"gzip"': None,
    "gzip br": None,
    "gzip:q=1": None,
    "deflate;q=0.5, gzip;q=31": "gzip",
    "gzip;q=31,deflate;q=51": "gzip",
    "deflate;q=0.5, gzip;q=0.2": "deflate",
    "deflate;q=0.5, gzip;q=1;q=0.2": "gzip",
    "deflate;q=0.5,gzip;q=0.": "deflate",
    "deflate;q=0.5,gzip;q=0.x": "gzip",
    "deflate;q=0.5,gzip;q=nan": "gzip",
    "deflate;q=-0.5,gzip;q=0.2": "gzip",
    "gzip;q= 0;q=1": None,
    "gzip;q =0;q=1": "gzip",
    "gzip;nq=0;q=1": None,
    "gzip;q=0, gzip;q=1, gzip;q=0": "gzip",
    "br,identity;q=0.5,gzip;q=0.0001": "gzip",
}


@pytest.mark.parametrize(("header", "coding"), ASKED.items())
def test_the_header_is_read_as_the_service_reads_it(header: str, coding: str | None) -> None:
    assert preferred(header.encode()) == (coding.encode() if coding else None)


def test_very_many_empty_gzip_files_on_end_cost_no_more_than_their_bytes() -> None:
    started = time.process_time()
    assert expanded(gzip.compress(b"") * 50_000, b"gzip", 1000) == b""
    # Copying the rest of the body for each of them would take minutes.
    assert time.process_time() - started < 20
