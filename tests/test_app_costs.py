"""The counts of tools/app_costs.py: that they can be had of this tree, and count what they say."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "app_costs.py"

ENTITIES = """
LONGEST_ADDRESS = 200
ADDRESS = "/somewhere"

class Store:
    name: str
    address: Text[LONGEST_ADDRESS]

class Person:
    address: str
"""
VIEWS = """
def store_shown(store):
    return StoreView(
        name=store.name,
        address=store.address,
    )

def written(letter, store):
    return letter.address
"""


@pytest.fixture
def tool(monkeypatch):
    spec = spec_from_file_location("app_costs", TOOL)
    module = module_from_spec(spec)
    # Dataclasses look their module up by its name.
    monkeypatch.setitem(sys.modules, "app_costs", module)
    spec.loader.exec_module(module)
    return module


def test_every_cost_is_counted_on_this_tree():
    found = subprocess.run([sys.executable, TOOL, "--walk", "--where"], capture_output=True, text=True, check=True)
    rows = [line.strip("| ").split(" | ") for line in found.stdout.splitlines() if line.startswith("|")]
    counted = {what: int(here.split(" in ")[0].replace(",", "")) for what, here, *_ in rows[2:]}
    assert len(counted) == 11
    assert all(counted.values()), counted
    passed = found.stdout.split("\n\n")[2]
    assert all(f" {name}\n" in passed + "\n" for name in ("store/store.py", "dynamo/database.py"))
    assert "apps/shopping/" in passed


def test_a_field_is_counted_where_its_entity_is_named(tool, tmp_path):
    (tmp_path / "entities.py").write_text(ENTITIES)
    (tmp_path / "views.py").write_text(VIEWS)
    (tmp_path / "demo.py").write_text("def stores_made(): return Stores(address='Here')\n")
    found = tool.field_lines(tmp_path, "Store", "address")
    assert found == {tmp_path / "entities.py": [2, 7], tmp_path / "views.py": [5]}


def test_lines_are_those_of_wc(tool, tmp_path):
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting" / "aside.py").write_text("left = out\n")
    (tmp_path / "counted.py").write_text("one\n\nthree\n")
    assert tool.lines_of(tool.python_files(tmp_path, "counting")) == 3
