"""The wheel runs without a checkout: in an empty environment, with the packages of one extra and no others."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

from tests.connections.raw_requests import SIGNATURE
from tests.patience import PATIENCE_SECONDS
from tests.processes import stopped
from tests.test_extras import PUT_AND_GET
from tests.web.suites import API, PASSWORD, bearer

ROOT = Path(__file__).parent.parent
# What is in a package's folder besides its modules: data, licences, and the description of the distribution.
CACHES = {"__pycache__"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (file,) = folder.glob("potluck-*.whl")
    return file


def packages_of(extra: str | None) -> set[str]:
    """The distributions that pip would install with Potluck and this extra."""
    found: set[str] = set()
    waiting = [("potluck", frozenset({extra or ""}))]
    while waiting:
        name, extras = waiting.pop()
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": each}) for each in extras or {""}):
                waiting.append((needed.name, frozenset(needed.extras)))
                found.add(needed.name.lower())
    return found - {"potluck"}


def environment(wheel: Path, folder: Path, extra: str | None) -> Path:
    """A new environment with the wheel, and the packages of the extra; the path of its programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    install = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache", "--python", folder / "bin/python"]
    subprocess.run([Path(sys.executable).with_name("uv"), *install, wheel], check=True)
    for name in packages_of(extra):
        installed = distribution(name)
        for top in {file.parts[0] for file in installed.files or () if file.parts[0] not in {"..", *CACHES}}:
            if not (packages / top).exists():
                (packages / top).symlink_to(installed.locate_file(top))
    return folder / "bin"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Path]:
    """The programs of four environments: of the core alone, and of three extras."""
    folder = tmp_path_factory.mktemp("installed")
    return {
        extra: environment(wheel, folder / (extra or "core"), extra) for extra in (None, "server", "suite", "testing")
    }


def with_nothing_set() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("POTLUCK_", "PYTHON"))}


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)], cwd=cwd, env=with_nothing_set(), capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


@contextmanager
def running(*command: object, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A program that serves, and the address it printed."""
    process = subprocess.Popen(
        [*map(str, command)],
        cwd=cwd,
        env=with_nothing_set(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = ""
        while not (address := re.search(r"http://127\.0\.0\.1:\d+", said)):
            line = process.stdout.readline()
            assert line, f"it stopped, having said: {said}"
            said += line
        yield process, address[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_wheel_has_every_file_of_the_package(wheel):
    source = ROOT / "src"
    files = {
        str(file.relative_to(source))
        for file in (source / "potluck").rglob("*")
        if file.is_file() and not CACHES & set(file.parts)
    }
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("potluck-")}
    assert names == files
    assert {Path(name).suffix for name in names} >= {".py", ".html", ".js", ".css", ".md", ".pyi"}


def test_the_suite_is_installed_started_used_and_stopped(installed, tmp_path):
    with (
        running(installed["suite"] / "potluck", "serve", "--port", "0", cwd=tmp_path) as (process, address),
        httpx.Client(base_url=address, timeout=PATIENCE_SECONDS) as client,
    ):
        person = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
        by = bearer(client.post(f"{API}/accounts", json=person).raise_for_status().json())
        family = client.post(f"{API}/families", json={"name": "Lovelace"}, headers=by).raise_for_status().json()
        path = f"{API}/families/{family['familyId']}/shopping-list"
        client.post(path, json={"name": "Tea"}, headers=by).raise_for_status()
        assert [item["name"] for item in client.get(path, headers=by).json()["items"]] == ["Tea"]
        page = client.get("/sign-up", headers={"accept": "text/html"}).raise_for_status().text
        for asset in set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page)):
            client.get(asset).raise_for_status()
        assert stopped(process) == 0
    assert sorted(file.name for file in (tmp_path / "data").iterdir()) == ["potluck.db", "secret"]


def test_the_engine_alone_serves_with_its_extra(installed, tmp_path):
    with running(installed["server"] / "potluck", "dynamodb", "--port", "0", cwd=tmp_path) as (process, address):
        headers = {
            "x-amz-target": "DynamoDB_20120810.ListTables",
            "content-type": "application/x-amz-json-1.0",
            "authorization": SIGNATURE,
            "x-amz-date": "20260101T000000Z",
        }
        assert httpx.post(address, headers=headers, content=b"{}").json() == {"TableNames": []}
        assert stopped(process) == 0


def test_the_core_brings_engine_and_library_and_says_which_extra_is_missing(installed, tmp_path):
    used = run(installed[None] / "python", "-c", PUT_AND_GET, cwd=tmp_path)
    assert (used.returncode, used.stdout) == (0, "bring salad\n"), used.stderr
    assert run(installed[None] / "potluck", "--version", cwd=tmp_path).stdout.startswith("potluck ")
    for command, extra in (("serve", "suite"), ("dynamodb", "server")):
        refused = run(installed[None] / "potluck", command, cwd=tmp_path)
        assert refused.returncode == 1
        assert f"pip install 'potluck[{extra}]'" in refused.stderr


NOTES = """
def test_a_note_is_kept(dynamodb, dynamodb_table):
    table = dynamodb_table({
        "TableName": "Notes",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    })
    table.put_item(Item={"id": "first"})
    assert dynamodb.Table("Notes").scan()["Count"] == 1
"""


def test_pytest_finds_the_plugin_in_a_project_that_has_its_extra(installed, tmp_path):
    (tmp_path / "test_notes.py").write_text(NOTES)
    ran = run(installed["testing"] / "python", "-m", "pytest", "-q", cwd=tmp_path)
    assert ran.stdout.splitlines()[-1].startswith("1 passed"), ran.stdout + ran.stderr
