"""The protocol itself: what a request that no SDK would send is answered with."""

import json
import zlib

import pytest

from tests.conformance.wire import S

TARGET = "DynamoDB_20120810."
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=conformance/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)
HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": AUTHORIZATION,
}


def headers(operation, **more):
    return {**HEADERS, "X-Amz-Target": TARGET + operation, **more}


def refusal(answer):
    """Status and short code of an answer that is no success."""
    status, _, body = answer
    return status, json.loads(body)["__type"].rpartition("#")[2]


async def test_an_answer_is_json_with_its_checksum(dynamo, raw):
    status, told, body = raw(b'{"Limit": 1}', headers("ListTables"))
    assert status == 200
    assert told["content-type"] == "application/x-amz-json-1.0"
    assert "TableNames" in json.loads(body)
    assert int(told["x-amz-crc32"]) == zlib.crc32(body)
    assert told["x-amzn-requestid"]


async def test_a_refusal_names_its_type_in_full(dynamo, raw, plain):
    status, told, body = raw(json.dumps({"TableName": "absent", "Key": {"p": S("x")}}).encode(), headers("GetItem"))
    assert status == 400
    answer = json.loads(body)
    assert answer["__type"] == "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
    assert told["content-type"] == "application/x-amz-json-1.0"


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"", b"not json", b'"text"', b'{"TableName": }', b"\xff\xfe", b"[" * 10_000],
    ids=["cut off", "a list", "nothing", "text", "a string", "a hole", "no utf-8", "deep"],
)
async def test_malformed_json_is_a_serialization_exception(dynamo, raw, body):
    assert refusal(raw(body, headers("ListTables"))) == (400, "SerializationException")


async def test_a_wrong_json_type_is_a_serialization_exception(dynamo, raw):
    assert refusal(raw(b'{"TableName": 5}', headers("DescribeTable"))) == (400, "SerializationException")


async def test_a_number_not_in_quotes_is_a_serialization_exception(dynamo, raw, plain):
    body = json.dumps({"TableName": plain, "Item": {"p": S("x"), "n": {"N": 5}}}).encode()
    assert refusal(raw(body, headers("PutItem"))) == (400, "SerializationException")


async def test_bad_base64_is_a_serialization_exception(dynamo, raw, plain):
    body = json.dumps({"TableName": plain, "Item": {"p": S("x"), "b": {"B": "***"}}}).encode()
    assert refusal(raw(body, headers("PutItem"))) == (400, "SerializationException")


@pytest.mark.parametrize("target", ["DynamoDB_20120810.NoSuchOperation", "NoSuchService.ListTables", ""])
async def test_an_unknown_operation_is_refused(dynamo, raw, target):
    assert refusal(raw(b"{}", {**HEADERS, "X-Amz-Target": target})) == (400, "UnknownOperationException")


async def test_a_request_without_target_is_refused(dynamo, raw):
    assert refusal(raw(b"{}", HEADERS)) == (400, "UnknownOperationException")


async def test_unknown_parameters_are_ignored(dynamo, raw):
    status, _, _ = raw(b'{"Limit": 1, "Unknown": {"a": 1}}', headers("ListTables"))
    assert status == 200


async def test_nulls_are_as_if_left_out(dynamo, raw):
    status, _, body = raw(b'{"Limit": 1, "ExclusiveStartTableName": null}', headers("ListTables"))
    assert status == 200
    assert "TableNames" in json.loads(body)


async def test_a_failed_condition_carries_the_item(dynamo, raw, plain, fresh):
    put = {"TableName": plain, "Item": {"p": S(fresh)}}
    raw(json.dumps(put).encode(), headers("PutItem"))
    put |= {
        "ConditionExpression": "attribute_not_exists(p)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    status, _, body = raw(json.dumps(put).encode(), headers("PutItem"))
    answer = json.loads(body)
    assert status == 400
    assert answer["__type"] == "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
    assert answer["Item"] == {"p": S(fresh)}


async def test_text_of_any_kind_survives(dynamo, raw, plain, fresh):
    text = 'quote " backslash \\ newline \n tab \t nul \u0000 é 𐀀 \u2028'
    body = json.dumps({"TableName": plain, "Item": {"p": S(fresh), "a": S(text)}}).encode()
    assert raw(body, headers("PutItem"))[0] == 200
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert got == {"Item": {"p": S(fresh), "a": S(text)}}
