import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from potluck.commands import main as main_module
from potluck.commands.main import main

IMPORTED = """
import sys
from potluck.commands.main import main
try:
    main(["--help"])
except SystemExit:
    print({"starlette", "apsw", "uvicorn", "msgspec", "potluck.table", "potluck.web"} & set(sys.modules))
"""
COMMANDS = Path(main_module.__file__).parent


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for name in (
        "serve",
        "dynamodb",
        "backup",
        "restore",
        "accept-new-secret",
        "accept-lost-writes",
        "people",
        "doctor",
        "reset-password",
        "invite",
        "polls",
        "backfill",
        "count",
        "demo",
        "design",
        "POTLUCK_DATA",
        "POTLUCK_ORIGIN",
    ):
        assert name in said


def test_version_is_the_packages(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"potluck {version('potluck')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["cook"],
        ["backup"],
        ["backup", "copy", "--data", "data", "--file", "tables.db"],
        ["restore"],
        ["reset-password"],
        ["backfill", "polls"],
    ],
)
def test_a_wrong_call_is_told_how_to_call(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: potluck" in capsys.readouterr().err


def test_a_wrong_setting_does_not_keep_help_away(monkeypatch, capsys):
    monkeypatch.setenv("POTLUCK_PORT", "many")
    for arguments in (["--help"], ["serve", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert "usage: potluck" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["invite"], ["demo"]])
def test_amazon_dynamodb_without_its_extra_is_one_sentence(monkeypatch, tmp_path, capsys, command):
    monkeypatch.setenv("POTLUCK_ENGINE", "aws")
    monkeypatch.setenv("POTLUCK_SECRET", "the secret of the tests, on every machine")
    monkeypatch.setenv("POTLUCK_REGISTRATION", "invited")
    monkeypatch.setitem(sys.modules, "aiobotocore.session", None)
    monkeypatch.delitem(sys.modules, "potluck.engines.aws", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(command) == 1
    assert capsys.readouterr().err == "potluck: aiobotocore is not installed: pip install 'potluck[aws]'\n"


def test_a_wrong_setting_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setenv("POTLUCK_PORT", "many")
    assert main(["serve"]) == 1
    assert capsys.readouterr().err == "potluck: POTLUCK_PORT is 'many'; it must be a number from 0 to 65535\n"


def test_help_imports_neither_the_web_framework_nor_the_library():
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            IMPORTED,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.endswith("\nset()\n")


def test_the_package_runs_as_the_command():
    ran = subprocess.run([sys.executable, "-m", "potluck", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"potluck {version('potluck')}\n"


def test_every_module_that_declares_arguments_is_listed():
    modules = {file.stem.replace("_", "-") for file in COMMANDS.glob("*.py") if "\ndef declare(" in file.read_text()}
    assert modules == set(main_module.COMMANDS)
