"""Amazon's own tools read what is exported, and what they export is read; moto imitates them, in this process."""

import io
import time

import boto3
import pytest

from potluck.moving.export_files import exports_in
from tests.engine_targets import EMBEDDED, opened
from tests.moving.stores import ODD, PLAIN, contents, exported, filled, imported, things
from tests.patience import PATIENCE_SECONDS
from tests.references import REGION

# moto measures binaries in base64, has a limit of its own for texts, and cannot read empty ones.
ROWS = [row for row in [*PLAIN[:50], *ODD] if not row["PK"]["S"].startswith(("large", "text", "empty"))]


@pytest.mark.needs("moto")
async def test_amazons_import_reads_an_export(tmp_path, monkeypatch):
    from moto import mock_aws

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tests")
    async with opened(EMBEDDED, tmp_path) as engine:
        await filled(engine, ROWS)
        await exported(engine, tmp_path / "out")
        expected = await contents(engine)
    with mock_aws():
        s3, dynamodb = (boto3.client(service, region_name=REGION) for service in ("s3", "dynamodb"))
        s3.create_bucket(Bucket="moving")
        for file in (tmp_path / "out").rglob("*"):
            if file.is_file():
                s3.upload_fileobj(io.BytesIO(file.read_bytes()), "moving", str(file.relative_to(tmp_path / "out")))
        (export,) = [export for export in exports_in(tmp_path / "out") if export.table == things.name]
        create = things.creation()[0].body
        started = dynamodb.import_table(
            S3BucketSource={"S3Bucket": "moving", "S3KeyPrefix": f"Things/AWSDynamoDB/{export.id}/data/"},
            InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP",
            TableCreationParameters={name: part for name, part in create.items() if name != "StreamSpecification"},
        )["ImportTableDescription"]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while started["ImportStatus"] == "IN_PROGRESS" and time.monotonic() < deadline:
            started = dynamodb.describe_import(ImportArn=started["ImportArn"])["ImportTableDescription"]
        assert started["ImportStatus"] == "COMPLETED", started.get("FailureMessage")
        assert started["ImportedItemCount"] == len(ROWS)
        pages = dynamodb.get_paginator("scan").paginate(TableName=things.name)
        rows = {(row["PK"]["S"], row["SK"]["S"]): row for page in pages for row in page["Items"]}
        assert rows.keys() == expected.keys()
        assert rows["K3", "000003"] == expected["K3", "000003"]


async def test_what_amazon_exports_is_imported(tmp_path):
    """The files as Amazon's documentation shows them: several, some of them empty, and a mark that it has begun."""
    export = tmp_path / "from-amazon" / "2026" / "AWSDynamoDB" / "01693685827463-2d8752fd"
    async with opened(EMBEDDED, tmp_path) as engine:
        await filled(engine, PLAIN)
        await exported(engine, tmp_path / "own")
    amazons_files(export, "Things", [PLAIN[:3], [], PLAIN[3:]])
    (tmp_path / "there").mkdir()
    async with opened(EMBEDDED, tmp_path / "there") as there:
        assert (await imported(there, tmp_path / "from-amazon"))[things.name].count == len(PLAIN)
        assert len(await contents(there)) == len(PLAIN)


def amazons_files(folder, table, files):
    import gzip
    import json
    from base64 import b64encode
    from hashlib import md5

    def checksum(content):
        return b64encode(md5(content).digest()).decode()

    (folder / "data").mkdir(parents=True)
    (folder / "_started").touch()
    lines = []
    for number, rows in enumerate(files):
        content = gzip.compress("".join(json.dumps({"Item": row}) + "\n" for row in rows).encode())
        name = f"{number}sdl123dasas.json.gz"
        (folder / "data" / name).write_bytes(content)
        key = f"2026/AWSDynamoDB/{folder.name}/data/{name}"
        lines.append({"itemCount": len(rows), "md5Checksum": checksum(content), "etag": "x-1", "dataFileS3Key": key})
    listed = "\n".join(map(json.dumps, lines))
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"
    summary = {
        "version": "2023-08-01",
        "exportArn": f"{arn}/export/{folder.name}",
        "tableArn": arn,
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"2026/AWSDynamoDB/{folder.name}/manifest-files.json",
        "itemCount": sum(map(len, files)),
        "outputFormat": "DYNAMODB_JSON",
        "outputView": None,
        "exportType": "FULL_EXPORT",
    }
    for name, content in (("manifest-files", listed), ("manifest-summary", json.dumps(summary))):
        (folder / f"{name}.json").write_text(content)
        (folder / f"{name}.md5").write_text(checksum(content.encode()))
