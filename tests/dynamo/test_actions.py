"""The operations of the engine."""

from pathlib import Path

from potluck.dynamo import actions

CONFORMANCE = Path(__file__).parent.parent / "conformance"


def test_every_operation_has_a_conformance_file_of_its_name() -> None:
    operations = {file.stem for file in Path(actions.__file__).parent.glob("*.py")} - {"__init__"}
    assert "put_item" in operations
    assert sorted(name for name in operations if not (CONFORMANCE / f"test_{name}.py").exists()) == []
