import json
import sys

import pytest

from potluck.commands.main import main
from potluck.table.design import markdown
from tests.table.documents import shopping

DOCUMENT = "tests.table.documents.shopping"
MODULE = '''
from typing import Annotated
from uuid import UUID
from msgspec import Meta
from potluck.table import Entity, Table, get

notes = Table("Notes", "PK", "SK", accepted={accepted})


class Note(Entity, table=notes, key=({partition!r}, "NOTE#{{note_id}}")):
    """Something to remember."""

    user_id: UUID
    note_id: UUID
    text: {text}

    @get
    def one(user_id: UUID, note_id: UUID) -> None:
        """What was it?"""
'''


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """Writes a module that declares a table, in the folder where the command is called."""
    monkeypatch.chdir(tmp_path)
    name = f"declared_by_{request.node.name.partition('[')[0]}"

    def write(partition="USER#{user_id}", text="Annotated[str, Meta(max_length=1000)]", accepted=None):
        source = MODULE.format(partition=partition, text=text, accepted=accepted or {})
        (tmp_path / f"{name}.py").write_text(source)
        return name

    yield write
    sys.modules.pop(name, None)


def test_a_design_is_printed_as_markdown(capsys):
    assert main(["design", DOCUMENT]) == 0
    assert capsys.readouterr().out == markdown([shopping.inventory])


def test_an_app_is_called_by_its_name(capsys):
    assert main(["design", "polls", "people"]) == 0
    said = capsys.readouterr().out
    assert "## The table `ranked-choice-polls`" in said
    assert "## The table `Accounts`" in said


def test_without_an_app_all_are_printed(capsys):
    assert main(["design", "--format", "cloudformation"]) == 0
    resources = json.loads(capsys.readouterr().out)["Resources"]
    # At least these: another app brings its own.
    assert {
        each["Properties"]["TableName"]["Fn::Sub"].removeprefix("${TablePrefix}") for each in resources.values()
    } >= {
        "ShortIdPool",
        "Shareables",
        "InventoryManagement",
        "RollModel",
        "ranked-choice-polls",
        "MediaLibrary",
        "Accounts",
    }


def test_a_design_is_printed_as_a_diagram(capsys):
    assert main(["design", DOCUMENT, "--format", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("erDiagram\n")


def test_a_project_s_own_module_is_found_where_the_command_is_called(module, capsys):
    assert main(["design", module()]) == 0
    assert "## The table `Notes`" in capsys.readouterr().out


def test_lint_prints_each_finding_on_a_line_and_fails(capsys):
    assert main(["design", DOCUMENT, "--lint"]) == 1
    *findings, total = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2].partition(" ")[0] for line in findings] == ["error", "warning"]
    assert "open-prefix: ShoppingListItem.by_store" in findings[0]
    assert total == "2 findings, 0 accepted"


def test_lint_is_content_with_what_is_explained(module, capsys):
    accepted = {"unbounded-row: Note": "the page cuts it"}
    assert main(["design", module(text="str", accepted=accepted), "--lint"]) == 0
    assert capsys.readouterr().out == (
        "Notes: accepted unbounded-row: Note: the page cuts it\nno findings, 1 accepted\n"
    )


def test_lint_is_quiet_where_nothing_is_found(module, capsys):
    assert main(["design", module(), "--lint"]) == 0
    assert capsys.readouterr().out == "no findings, 0 accepted\n"


def test_write_puts_the_design_into_the_readme_beside_the_module(module, tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("# Notes\n\n<!-- design -->\n<!-- /design -->\n")
    name = module()
    assert main(["design", name, "--write"]) == 0
    written = readme.read_text()
    assert written.startswith("# Notes\n\n<!-- design -->\n## The table `Notes`\n")
    assert written.endswith("\n<!-- /design -->\n")
    assert main(["design", name, "--write"]) == 0
    assert readme.read_text() == written


def test_a_readme_without_markers_is_left_as_it_is(module, tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("# Notes\n")
    assert main(["design", module(), "--write"]) == 1
    assert "<!-- design -->" in capsys.readouterr().err
    assert readme.read_text() == "# Notes\n"


@pytest.mark.parametrize("name", ["cooking", "potluck.apps.cooking.entities", "no.such.module"])
def test_a_name_that_is_nothing_is_one_sentence(name, capsys):
    assert main(["design", name]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"potluck: there is no app and no module {name}; the apps are ")
    assert said.count("\n") == 1


def test_a_module_without_a_table_is_one_sentence(capsys):
    assert main(["design", "potluck.settings"]) == 1
    assert capsys.readouterr().err.startswith("potluck: potluck.settings declares no table; the apps are ")


def test_a_declaration_that_cannot_work_is_one_sentence(module, capsys):
    assert main(["design", module("USER#{usr_id}")]) == 1
    said = capsys.readouterr().err
    assert "did you mean user_id" in said
    assert said.count("\n") == 1


def test_a_module_that_misses_another_says_which(module, tmp_path):
    name = module()
    (tmp_path / f"{name}.py").write_text("import no_such_dependency")
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        main(["design", name])


@pytest.mark.parametrize("arguments", [["--format", "pdf"], ["--lint", "--write"]])
def test_a_wrong_call_is_told_how_to_call(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["design", *arguments])
    assert ended.value.code == 2
    assert "usage: potluck design" in capsys.readouterr().err


def test_help_names_the_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "design" in capsys.readouterr().out
