"""What an import refuses: damaged files, what is no export, and a store that has something else in it."""

import gzip
import json
from base64 import b64encode
from hashlib import md5

import pytest

from potluck.moving import exporting
from potluck.moving.export_files import ExportDamaged
from potluck.moving.exporting import CannotExport, Export
from potluck.moving.importing import CannotImport
from potluck.moving.unfinished_imports import UnfinishedImport
from tests.engine_targets import EMBEDDED, opened
from tests.moving.stores import PLAIN, WORK, Dead, Dying, Paged, contents, exported, filled, imported, things


@pytest.fixture
async def export(tmp_path):
    """A folder with an export."""
    async with opened(EMBEDDED, tmp_path) as engine:
        await filled(engine, PLAIN)
        await exported(engine, tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
async def there(tmp_path):
    (tmp_path / "there").mkdir()
    async with opened(EMBEDDED, tmp_path / "there") as engine:
        yield engine


def data_file(export):
    (file,) = (export / things.name).rglob("data/*.json.gz")
    return file


def rewritten(file, change):
    """Change a manifest, and its MD5 with it."""
    file.write_text(change(file.read_text()))
    file.with_suffix(".md5").write_text(b64encode(md5(file.read_bytes()).digest()).decode())


def manifest(export, name):
    (file,) = (export / things.name).rglob(f"{name}.json")
    return file


async def test_a_data_file_in_which_one_bit_changed(export, there):
    file = data_file(export)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    with pytest.raises(ExportDamaged, match="its MD5 is not the one in the manifest"):
        await imported(there, export)
    assert not await contents(there)


async def test_a_data_file_that_is_missing_or_cut_short(export, there):
    file = data_file(export)
    content = file.read_bytes()
    file.write_bytes(content[:-100])
    with pytest.raises(ExportDamaged, match="MD5"):
        await imported(there, export)
    file.unlink()
    with pytest.raises(ExportDamaged, match="is missing"):
        await imported(there, export)


def with_another_file(export, content):
    """Replace the data, and make the manifests fit."""
    data_file(export).write_bytes(content)
    digest = b64encode(md5(content).digest()).decode()
    rewritten(
        manifest(export, "manifest-files"), lambda text: json.dumps(json.loads(text) | {"md5Checksum": digest}) + "\n"
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (gzip.compress(b"")[:-4], "end-of-stream"),
        (b"no gzip", "Not a gzipped file"),
        (gzip.compress(b'{"Item":{"PK":{"S":"x"}}\n'), "line 1"),
        (gzip.compress(b'{"Key":{}}\n'), "Item"),
        (gzip.compress(b'{"Item":{"PK":{"S":"x"},"SK":{"S":"y"}}}\n'), "has 1 items, and the manifest says 700"),
        (gzip.compress(b'{"Item":{"PK":{"S":"x"},"SK":{"N":"y"}}}\n'), "not an item of DynamoDB"),
    ],
    ids=["cut short", "not gzip", "not JSON", "no item", "too few", "no valid item"],
)
async def test_a_data_file_that_holds_something_else(export, there, content, why):
    with_another_file(export, content)
    with pytest.raises(ExportDamaged, match=why):
        await imported(there, export)


async def test_a_manifest_that_was_changed(export, there):
    file = manifest(export, "manifest-summary")
    file.write_text(file.read_text().replace("700", "701"))
    with pytest.raises(ExportDamaged, match=r"manifest-summary\.json is damaged"):
        await imported(there, export)
    rewritten(file, lambda text: text)
    with pytest.raises(ExportDamaged, match="the manifests disagree"):
        await imported(there, export)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"outputFormat": "ION"}, "export it as DYNAMODB_JSON"),
        ({"exportType": "INCREMENTAL_EXPORT"}, "an incremental export"),
        ({"itemCount": None}, "not a manifest"),
    ],
)
async def test_an_export_of_another_kind(export, there, change, why):
    rewritten(manifest(export, "manifest-summary"), lambda text: json.dumps(json.loads(text) | change))
    with pytest.raises(ExportDamaged, match=why):
        await imported(there, export)


async def test_no_manifest_leads_out_of_its_folder(export, there, tmp_path):
    file = data_file(export)
    file.rename(tmp_path / file.name)
    rewritten(
        manifest(export, "manifest-files"),
        lambda text: json.dumps(json.loads(text) | {"dataFileS3Key": f"../../../../../{file.name}"}) + "\n",
    )
    with pytest.raises(ExportDamaged, match="is missing"):
        await imported(there, export)


async def test_tables_of_other_programs_and_tables_that_are_missing(export, there):
    summary = manifest(export, "manifest-summary")
    rewritten(summary, lambda text: text.replace("table/Things", "table/Thongs"))
    with pytest.raises(CannotImport, match="no app has a table Thongs"):
        await imported(there, export)
    (export / things.name).rename(export.parent / "aside")
    with pytest.raises(CannotImport, match="it lacks the tables Things"):
        await imported(there, export)


async def test_tables_with_a_prefix_are_recognised_and_several_prefixes_are_refused(export, there):
    rewritten(manifest(export, "manifest-summary"), lambda text: text.replace("table/Things", "table/home-Things"))
    (work,) = (export / WORK.table).rglob("manifest-summary.json")
    with pytest.raises(CannotImport, match="several prefixes: '', 'home-'"):
        await imported(there, export)
    rewritten(work, lambda text: text.replace(f"table/{WORK.table}", f"table/home-{WORK.table}"))
    assert (await imported(there, export))[things.name].count == len(PLAIN)


async def test_nothing_is_overwritten(export, there):
    own = {"PK": {"S": "K1"}, "SK": {"S": "000001"}, "number": {"N": "-1"}}
    await filled(there, [own])
    with pytest.raises(CannotImport, match="the table Things is not empty"):
        await imported(there, export)
    assert list((await contents(there)).values()) == [own]


async def test_a_store_with_consumers_is_not_empty(export, there):
    await filled(there, [])
    await there.call("PutItem", {"TableName": WORK.table, "Item": WORK.key("CONSUMER#a", "STREAM")})
    with pytest.raises(CannotImport, match="the table BackgroundWork is not empty"):
        await imported(there, export)


async def test_another_import_comes_after_the_one_that_was_begun(export, there):
    store = await filled(there, [])
    await UnfinishedImport(store).begin("Things:0001", 0)
    with pytest.raises(CannotImport, match="an import of another export"):
        await imported(there, export)


async def test_a_row_that_was_changed_meanwhile_is_noticed(export, there):
    class Meddling:
        """Somebody writes into the store that is being filled."""

        engine = there

        async def call(self, operation, request):
            answer = await there.call(operation, request)
            if operation == "BatchWriteItem":
                key = {"PK": PLAIN[0]["PK"], "SK": PLAIN[0]["SK"]}
                await there.call("PutItem", {"TableName": things.name, "Item": {**key, "number": {"N": "-1"}}})
            return answer

    with pytest.raises(CannotImport, match="the table Things differs from the export"):
        await imported(Meddling(), export)


async def test_an_export_goes_into_a_folder_of_its_own(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter").touch()
    with pytest.raises(CannotExport, match="is not empty"):
        Export.begin(tmp_path / "out", "here")
    Export.begin(tmp_path / "new", "here")
    assert Export.begin(tmp_path / "new", "here").progress.source == "here"
    with pytest.raises(CannotExport, match="an unfinished export of here"):
        Export.begin(tmp_path / "new", "there")


async def test_a_finished_export_is_not_begun_again(export):
    with pytest.raises(CannotExport, match="is not empty"):
        Export.begin(export, "a test")


async def test_a_table_that_was_created_anew_is_not_the_one_that_was_being_exported(tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "FILE_ROWS", 100)
    async with opened(EMBEDDED, tmp_path) as engine:
        await filled(engine, PLAIN)
        with pytest.raises(Dead):
            await exported(Dying(Paged(engine), 5, answered=True), tmp_path / "out")
        await engine.call("DeleteTable", {"TableName": things.name})
        await filled(engine, PLAIN)
        with pytest.raises(CannotExport, match="was created anew"):
            await exported(engine, tmp_path / "out")
