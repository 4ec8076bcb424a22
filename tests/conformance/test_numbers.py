"""Numbers: 38 digits, magnitudes from 1E-130 to 9.9E+125, one canonical form."""

import pytest

from tests.conformance.wire import NS, N, S

CANONICAL = {
    "zero": ("0", "0"),
    "minus zero": ("-0", "0"),
    "zero with fraction": ("0.000", "0"),
    "leading zeros": ("0001.50", "1.5"),
    "a plus sign": ("+3", "3"),
    "no digit before the point": (".5", "0.5"),
    "no digit after the point": ("5.", "5"),
    "trailing zeros": ("100", "100"),
    "trailing zeros after the point": ("1.2300", "1.23"),
    "an exponent": ("1e3", "1000"),
    "an exponent in upper case": ("1.5E+2", "150"),
    "a negative exponent": ("-12e-3", "-0.012"),
    "38 digits": ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    "38 digits after the point": (
        "0.12345678901234567890123456789012345678",
        "0.12345678901234567890123456789012345678",
    ),
    "38 digits and zeros": ("1234567890123456789012345678901234567800", "1234567890123456789012345678901234567800"),
    "the largest": ("9.9999999999999999999999999999999999999e125", "9" * 38 + "0" * 88),
    "the smallest": ("1e-130", "0." + "0" * 129 + "1"),
    "the largest negative": ("-9.9999999999999999999999999999999999999e125", "-" + "9" * 38 + "0" * 88),
}


@pytest.mark.parametrize("case", CANONICAL)
async def test_a_number_is_kept_in_one_form(dynamo, plain, fresh, case):
    written, read = CANONICAL[case]
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": N(written)}})
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert got == {"Item": {"p": S(fresh), "n": N(read)}}


DIGITS = "Attempting to store more than 38 significant digits in a Number"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
REFUSED = {
    "39 digits": ("123456789012345678901234567890123456789", DIGITS),
    "39 digits with a point": ("1.23456789012345678901234567890123456789", DIGITS),
    "too large": ("1e126", OVERFLOW),
    "too large negative": ("-1e126", OVERFLOW),
    "much too large": ("1e1000000", OVERFLOW),
    "too small": ("1e-131", UNDERFLOW),
    "too small negative": ("-9e-131", UNDERFLOW),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_number_out_of_bounds_is_refused(dynamo, plain, fresh, case):
    number, message = REFUSED[case]
    await dynamo.invalid("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": N(number)}}, message)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1 ", " 1", "1e", "--1", "0x10", "1,5", "1_000"])
async def test_what_is_no_number_is_refused(dynamo, plain, fresh, text):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": S(fresh), "n": N(text)}},
        f"The parameter cannot be converted to a numeric value: {text}",
    )


async def test_number_keys_are_found_by_value(dynamo, numbered, fresh):
    await dynamo.call("PutItem", {"TableName": numbered, "Item": {"p": S(fresh), "n": N("1e1"), "a": N(1)}})
    await dynamo.call("PutItem", {"TableName": numbered, "Item": {"p": S(fresh), "n": N("10.0"), "a": N(2)}})
    got = await dynamo.call("GetItem", {"TableName": numbered, "Key": {"p": S(fresh), "n": N("0010")}})
    assert got == {"Item": {"p": S(fresh), "n": N(10), "a": N(2)}}


async def test_minus_zero_is_the_key_zero(dynamo, numbered, fresh):
    await dynamo.call("PutItem", {"TableName": numbered, "Item": {"p": S(fresh), "n": N("-0.0")}})
    got = await dynamo.call("GetItem", {"TableName": numbered, "Key": {"p": S(fresh), "n": N("0")}})
    assert got == {"Item": {"p": S(fresh), "n": N(0)}}


async def test_a_key_of_39_digits_is_refused(dynamo, numbered, fresh):
    await dynamo.invalid("GetItem", {"TableName": numbered, "Key": {"p": S(fresh), "n": N("1" * 39)}}, DIGITS)


async def test_numbers_in_sets_are_canonical(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": NS("1e2", "0.50", "-3.0")}})
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert sorted(got["Item"]["n"]["NS"]) == ["-3", "0.5", "100"]


async def test_sums_are_exact(dynamo, plain, fresh):
    request = {
        "TableName": plain,
        "Key": {"p": S(fresh)},
        "UpdateExpression": "SET n = :a + :b",
        "ExpressionAttributeValues": {":a": N("0.1"), ":b": N("0.2")},
        "ReturnValues": "UPDATED_NEW",
    }
    assert await dynamo.call("UpdateItem", request) == {"Attributes": {"n": N("0.3")}}


async def test_sums_reach_38_digits(dynamo, plain, fresh):
    request = {
        "TableName": plain,
        "Key": {"p": S(fresh)},
        "UpdateExpression": "SET n = :a + :b",
        "ExpressionAttributeValues": {":a": N("1" + "0" * 37), ":b": N(1)},
        "ReturnValues": "UPDATED_NEW",
    }
    assert await dynamo.call("UpdateItem", request) == {"Attributes": {"n": N("1" + "0" * 36 + "1")}}


async def test_a_sum_too_large_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "UpdateItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "UpdateExpression": "SET n = :a + :a",
            "ExpressionAttributeValues": {":a": N("9e125")},
        },
        OVERFLOW,
    )
