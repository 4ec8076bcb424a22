"""A small table in the forms that seeds have."""

import json
from base64 import b64encode
from gzip import compress
from hashlib import md5
from pathlib import Path
from typing import Any

CREATE = {
    "TableName": "Notes",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
}
FIRST = {"id": {"S": "first"}, "text": {"S": "bring salad"}, "photo": {"B": "AP8A"}}
SECOND = {"id": {"S": "second"}, "tags": {"SS": ["a", "b"]}}
BATCH = {"Notes": [{"PutRequest": {"Item": FIRST}}, {"PutRequest": {"Item": SECOND}}]}
TEMPLATE = """
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "Notes"
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      TimeToLiveSpecification: {AttributeName: until, Enabled: true}
  Function: {Type: AWS::Serverless::Function}
"""


def write(folder: Path, **files: Any) -> Path:
    """A folder with these files; `notes_items__json` is `notes_items.json`, and what is no text becomes JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def write_export(folder: Path, table: str, items: list[Any]) -> Path:
    """An export as Amazon's documentation shows it; returns its data file."""
    export = folder / "AWSDynamoDB" / "01693685827463-2d8752fd"
    (export / "data").mkdir(parents=True)
    content = compress(b"".join(json.dumps({"Item": item}).encode() + b"\n" for item in items))
    data = export / "data" / "asdl123.json.gz"
    data.write_bytes(content)
    entry = {
        "itemCount": len(items),
        "md5Checksum": b64encode(md5(content, usedforsecurity=False).digest()).decode(),
        "etag": "x-1",
        "dataFileS3Key": f"AWSDynamoDB/{export.name}/data/{data.name}",
    }
    summary = {
        "version": "2020-06-30",
        "tableArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}",
        "itemCount": len(items),
        "outputFormat": "DYNAMODB_JSON",
    }
    (export / "manifest-files.json").write_text(json.dumps(entry) + "\n")
    (export / "manifest-summary.json").write_text(json.dumps(summary))
    return data
