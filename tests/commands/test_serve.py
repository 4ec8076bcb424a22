import socket
import subprocess
import urllib.request

import pytest

from potluck.commands.main import main
from tests.processes import POTLUCK, running, stopped


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--port", "no", "argument --port: 'no' is not a number from 0 to 65535"),
        ("--port", "70000", "argument --port: '70000' is not a number from 0 to 65535"),
        ("--workers", "0", "argument --workers: '0' is not a number from 1 to 64"),
    ],
)
def test_a_wrong_number_is_told_in_plain_words(option, given, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", option, given])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"potluck serve: error: {said}\n")


def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["serve", "--data", str(tmp_path / "file" / "data")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("potluck: ")
    assert said.count("\n") == 1


def test_serve_prints_where_it_answers_and_stops_when_asked(tmp_path):
    with running("serve", "--port", "0", cwd=tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}/livez") as answer:
            assert answer.status == 200
        assert (tmp_path / "data" / "potluck.db").is_file()
        assert stopped(process) == 0


def test_several_workers_serve_one_store(tmp_path):
    with running("serve", "--port", "0", "--workers", "2", cwd=tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}/livez") as answer:
            assert answer.status == 200
        assert (tmp_path / "data" / "secret").stat().st_mode & 0o777 == 0o600
        assert stopped(process) == 0


def test_one_that_stops_leaves_the_port_of_another_on_the_same_folder(tmp_path):
    with running("serve", "--port", "0", cwd=tmp_path) as (first, _):
        with running("serve", "--port", "0", cwd=tmp_path) as (second, address):
            stopped(first)
            assert (tmp_path / "data" / "port").read_text() == address.rpartition(":")[2]
            stopped(second)
        assert not (tmp_path / "data" / "port").exists()


def test_a_port_that_is_taken_is_one_sentence(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port, "--data", str(tmp_path / "data")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"potluck: 127.0.0.1:{port} is already in use")
    assert said.count("\n") == 1


def test_a_file_that_is_no_store_is_one_sentence(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "potluck.db").write_text("a shopping list, on paper" * 100)
    ended = subprocess.run(
        [*POTLUCK, "serve", "--port", "0", "--workers", "2"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("potluck: ")
    assert "potluck.db" in ended.stderr
    assert ended.stderr.count("\n") == 1
