"""What `pip install potluck` alone can do, and what it says about the rest."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from potluck.dynamo.storage.creation import create_file
from potluck.extras import PACKAGES

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Distributions whose package has another name, and a package that comes with one of them.
IMPORTED_AS = {"argon2-cffi": "argon2", "pillow": "PIL", "pyyaml": "yaml"}
BROUGHT_ALONG = {"aws": {"botocore"}, "testing": {"botocore"}}

# Installed packages other than these two cannot be found, as if they were not there.
BARE = """
import sys
from importlib.machinery import PathFinder

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target)
        location = str(spec.origin or list(spec.submodule_search_locations or [""])[0]) if spec else ""
        if "site-packages" in location and name.partition(".")[0] not in ("apsw", "msgspec"):
            return None
        return spec

sys.meta_path = [Bare if finder is PathFinder else finder for finder in sys.meta_path]
assert PathFinder not in sys.meta_path and Bare in sys.meta_path
"""
PUT_AND_GET = """
import asyncio
import potluck.dynamo, potluck.engines, potluck.store, potluck.streams, potluck.table, potluck.validation
from datetime import UTC, datetime
from typing import Annotated
from msgspec import Meta
from potluck.engines import open_engine
from potluck.store import Store
from potluck.table import Entity, Table, get

notes = Table("Notes", "PK", "SK")

class Note(Entity, table=notes, key=("NOTE#{note}", "NOTE")):
    note: Annotated[str, Meta(max_length=60)]
    text: str

    @get
    def one(note: str) -> None:
        "What was it?"

async def main():
    store = Store(await open_engine(), lambda: datetime.now(UTC))
    await store.create_tables(notes)
    await store.put(Note(note="first", text="bring salad"))
    print((await store.get(Note.one("first"))).text)
    await store.engine.close()

asyncio.run(main())
"""


def bare(code, cwd):
    """Run code where only apsw and msgspec are installed."""
    return subprocess.run(
        [sys.executable, "-c", BARE + code], cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )


def potluck(*arguments, cwd):
    return bare(f"from potluck.commands.main import main\nsys.exit(main({list(map(str, arguments))!r}))", cwd)


def test_the_core_needs_two_packages():
    assert [re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]] == ["apsw", "msgspec"]


def requirements_of(extra):
    packages = set()
    for requirement in PROJECT["optional-dependencies"][extra]:
        name, inner = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name == "potluck":
            packages |= {package for each in inner.split(",") for package in requirements_of(each)}
        else:
            packages.add(IMPORTED_AS.get(name, name))
    return packages


@pytest.mark.parametrize("extra", ["server", "suite", "aws", "testing"])
def test_the_packages_that_messages_know_are_those_of_the_extras(extra):
    assert PACKAGES[extra] == requirements_of(extra) | BROUGHT_ALONG.get(extra, set())


def test_development_has_every_extra():
    every = {package for extra in ("server", "suite", "aws") for package in requirements_of(extra)}
    assert every <= requirements_of("dev")


def test_the_import_contract_forbids_every_package_of_the_extras():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (forbidden,) = [set(each["forbidden_modules"]) for each in contracts if "apsw" in each["name"]]
    assert set().union(*PACKAGES.values()) <= forbidden


def test_engine_and_library_work_alone(tmp_path):
    ran = bare(PUT_AND_GET, tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "bring salad\n"), ran.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["design", "polls"], ["design", "--lint"], ["count", "--help"]])
def test_commands_of_the_library_work_alone(arguments, tmp_path):
    ran = potluck(*arguments, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


def test_a_store_of_the_engine_is_backed_up_alone(tmp_path):
    create_file(str(tmp_path / "tables.db"))
    ran = potluck("backup", "copy.db", "--file", "tables.db", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "copy.db").is_file()


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["serve", "--port", "0"], "suite"),
        (["serve", "--port", "0", "--workers", "2"], "suite"),
        (["demo"], "suite"),
        (["invite"], "suite"),
        (["reset-password", "ada@example.org"], "suite"),
        (["dynamodb", "--port", "0"], "server"),
    ],
)
def test_a_command_that_needs_more_says_which_extra(arguments, extra, tmp_path):
    ran = potluck(*arguments, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(rf"potluck: \w+ is not installed: pip install 'potluck\[{extra}\]'\n", ran.stderr)
    assert list(tmp_path.iterdir()) == [], "nothing was begun"


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("import potluck.dynamo.server", "server"),
        ("import asyncio, potluck.engines\nasyncio.run(potluck.engines.open_engine('aws'))", "aws"),
    ],
)
def test_an_import_that_needs_more_says_which_extra(code, extra, tmp_path):
    last = bare(code, tmp_path).stderr.splitlines()[-1]
    assert re.fullmatch(rf"potluck\.extras\.MissingExtra: \w+ is not installed: pip install 'potluck\[{extra}\]'", last)
