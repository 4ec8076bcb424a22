"""How tests are run: shared out among workers, and stopped before their end."""

import re
import signal

from tests.runs import ended, started

SMALL = "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_it(n): pass\n"
WAITING = """
import time
import pytest

@pytest.fixture
def neighbour():
    print("the neighbour came", flush=True)
    yield
    print("the neighbour left", flush=True)

def test_that_waits(neighbour):
    print("waiting", flush=True)
    # Not in one sleep: Python notices a signal when a call returns, and would sleep through one that came just before.
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(0.02)
"""


def test_every_test_is_run_once_and_a_file_is_not_divided_nor_what_lives_for_the_session(tmp_path):
    files = ("conformance/test_a", "conformance/test_b", "e2e/test_c", "e2e/test_d", "test_e", "test_f", "web/test_g")
    for name in files:
        path = tmp_path / "tests" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SMALL)
    said = ended(started(tmp_path, "-n", "2", "-v"))
    ran = re.findall(r"^\[(gw\d)\].* PASSED \S+/tests/(\S+)\.py::test_it\[(\d)\]", said, re.MULTILINE)
    assert sorted((file, number) for _, file, number in ran) == [(file, number) for file in files for number in "012"]
    workers = {file: {worker for worker, each, _ in ran if each == file} for file in files}
    assert all(len(each) == 1 for each in workers.values()), workers
    assert workers["conformance/test_a"] == workers["conformance/test_b"]
    # A browser keeps more than a core busy: one of two workers begins with them, and the other with what else is long.
    assert workers["conformance/test_a"] != workers["e2e/test_c"]


def test_a_run_that_is_stopped_says_where_it_was_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "test_waiting.py").write_text(WAITING.replace("SECONDS", "600"))
    process = started(tmp_path, "-s")
    said = ""
    while "waiting\n" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGTERM)
    rest = ended(process)
    assert "the neighbour left" in rest
    assert re.search(r"KeyboardInterrupt: stopped in test_waiting\.py::test_that_waits \(call\)", rest), rest


def test_whoever_takes_too_long_is_named_while_it_does(tmp_path):
    (tmp_path / "test_waiting.py").write_text(WAITING.replace("SECONDS", "1"))
    said = ended(started(tmp_path, "-n", "1", "-o", "faulthandler_timeout=0.3"))
    assert "1 passed" in said
    assert "test_waiting.py::test_that_waits is at it for 0.3 seconds" in said, said
