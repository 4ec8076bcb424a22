"""The counts of tools/app_costs.py: that they can be had of this tree, and count what they say."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = ROOT / "tools"

# The names that apps may import from the front doors; lower it with every one that goes.
MOST_NAMES = 116
# Class names that are defined more than once, and why.
ENGINE_AND_LIBRARY = "DynamoDB's word, for what the engine carries out and for what the library asks for"
STORED = "an entity, whose name is stored"
REPEATED = {
    **dict.fromkeys(("Check", "Condition", "Delete", "Put", "Table", "Update"), ENGINE_AND_LIBRARY),
    **dict.fromkeys(("Deletion", "Event", "Record", "Store"), STORED),
    "NotFound": "no such row for the library, and 404 for the web",
    "Stream": "DynamoDB's word for a table's records, and HTTP's for a response that does not end",
}

TREE = {
    "apps/journal/entries.py": """
from potluck.apps.polls import Poll
from potluck.web import Actions, View
from potluck.people import secrets
import potluck.table

class Entry:
    rounds: int

async def saved(at, rounds):
    await at.store.transact(put(at.entry, rounds=at.entry.rounds))
    rows = [rounds.update()]

@entries.page("")
async def page(at): ...

@pages.get("/journal/file")
async def file(call): ...
""",
    "apps/journal/demo.py": "class Demo:\n    rounds = 3\n",
    "apps/polls/entries.py": "class Entry: ...\nclass Poll: ...\n",
    "people/accounts.py": "async def opened(self):\n    await self._store.transact()\n    self.headers.update()\n",
    "store/store.py": "async def delete(self):\n    await self.store.transact()\n    call('Scan', {})\n",
    "streams/log.py": "async def read(self):\n    call('GetRecords', {})\n",
    "web/commits.py": "async def run(self):\n    await self.store.transact()\n",
    "web/home.py": "def scanned():\n    call('Scan', {})\n",
    "validation/types.py": "class TextType: ...\nclass ListType: ...\nclass MapType: ...\n",
    "validation/forms.py": """
def shown(kind):
    match kind:
        case TextType():
            return 1
    return isinstance(kind, (types.ListType, types.MapType))

def listed(kind):
    return isinstance(kind, ListType)
""",
    "web/static/live.js": "new EventSource(address); new DOMParser();",
    "web/static/send.js": 'fetch(address, { method: "POST" });',
    "web/static/read.js": "fetch(address);",
}


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = spec_from_file_location("app_costs", TOOLS / "app_costs.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look their module up by its name.
    monkeypatch.setitem(sys.modules, "app_costs", module)
    spec.loader.exec_module(module)
    return module


def test_every_cost_is_counted_on_this_tree():
    ran = subprocess.run(
        [sys.executable, TOOLS / "app_costs.py", "--where"], capture_output=True, text=True, check=True
    )
    table, *lists = ran.stdout.split("\n\n")
    assert len(table.splitlines()) == 2 + len(lists) == 15
    assert "streams/log.py" in ran.stdout


def test_a_class_name_is_defined_once_or_has_a_reason(tool):
    repeated = tool.repeated_classes(tool.Tree(ROOT))
    assert REPEATED.keys() - repeated.keys() == set(), "These are defined once"
    assert {name: files for name, files in repeated.items() if name not in REPEATED} == {}


def test_an_app_author_has_to_know_few_names(tool):
    modules = tool.imported(tool.Tree(ROOT))
    assert modules.keys() <= {
        f"potluck.{name}" for name in ("people", "store", "streams", "table", "validation", "web")
    }
    names = [f"{module}: {name}" for module, names in modules.items() for name in names]
    assert len(names) <= MOST_NAMES, sorted(names)


def test_costs_are_what_they_say(tool, tmp_path):
    for name, text in TREE.items():
        file = tmp_path / "src" / "potluck" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    guide = tmp_path / "examples" / "chores"
    guide.mkdir(parents=True)
    (guide / "app.py").write_text("one\n\nthree\n")
    (guide / "test_chores.py").write_text("aside\n")
    counted = {cost.what: cost for cost in tool.costs(tool.Tree(tmp_path))}
    assert [cost.here for cost in counted.values()] == [
        *("3", "3", "1 of 2", "1", "2", "2", "1", "1", "1 / 1 / 1", "1", "4 in 1", "2"),
        f"{sum(text.count(chr(10)) for name, text in TREE.items() if name.endswith('.py'))}",
    ]
    assert counted["ways to commit a write"].where == ["people/accounts.py:2: self._store.transact"]
    assert counted["Scans paged by their callers"].where == ["web/home.py"]
    assert counted["dispatchers over the schema types"].where == ["validation/forms.py: shown (3)"]


def test_the_walk_of_a_request_leads_from_the_app_to_the_engine():
    ran = subprocess.run([sys.executable, TOOLS / "request_walk.py"], capture_output=True, text=True, check=True)
    assert all(f" {name}\n" in ran.stdout for name in ("web/runner.py", "store/store.py", "dynamo/database.py"))
    assert " apps/shopping/" in ran.stdout
