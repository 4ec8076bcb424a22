"""The design's validation table over HTTP: each bad value gets exactly its message, and nothing is written."""

import json
from uuid import uuid4

import pytest

from tests.apps.shopping.calls import data, one_suite, problem
from tests.web.suites import API, bearer

suite, calls, home = one_suite()
pytestmark = pytest.mark.asyncio(loop_scope="module")

BAD_IDS = ["", "123e4567", "123E4567-E89B-12D3-A456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}", 7, True]
BAD_IN_PATH = ["123e4567", "123E4567-E89B-12D3-A456-426614174000", "7", "%20"]
BAD_NAMES = ["", "   ", "x" * 101]
TO_BUY = [0, -1, 1.5, 1.0, "1", True, -(10**30)]
NOT_AT_HOME = [-1, 100_001, 1.5, "1", True, None]
VERSIONS = [0, -1, 1.5, 1.0, "1", True, None]

NAME = "Name must be 1-100 characters"
VERSION = "Version must be a positive integer"
STORE = "Invalid store ID format"
NOT_TEXT = [5, True, ["x"]]

# By the path and method that take the field: the message, and the values that get it.
FIELDS = {
    ("POST", "/shopping-list"): {
        "shoppingItemId": ("Invalid shopping item ID format", [*BAD_IDS, None]),
        "itemId": ("Invalid inventory item ID format", BAD_IDS),
        "name": (NAME, [*BAD_NAMES, None]),
        "storeId": (STORE, BAD_IDS),
        "quantity": ("Quantity must be a positive integer", TO_BUY),
        "notes": ("Notes must be 500 characters or less", ["x" * 501]),
        "unit": ("Unit must be 50 characters or less", ["x" * 51]),
        "allowDuplicate": ("Allow duplicate must be true or false", ["yes", 1, None]),
        "addedBy": ("There is no such field", [str(uuid4())]),
    },
    ("PATCH", "/shopping-list/{id}"): {
        "name": (NAME, [*BAD_NAMES, None]),
        "storeId": (STORE, BAD_IDS),
        "quantity": ("Quantity must be a positive integer", TO_BUY),
        "notes": ("Notes must be 500 characters or less", ["x" * 501]),
        "unit": ("Unit must be 50 characters or less", ["x" * 51]),
        "version": (VERSION, VERSIONS),
        "status": ("There is no such field", ["pending"]),
    },
    ("PATCH", "/shopping-list/{id}/status"): {
        "status": ("Status must be 'pending' or 'purchased'", ["bought", "", "Pending", None, 1]),
        "version": (VERSION, VERSIONS),
    },
    ("POST", "/shopping-list/{id}/restock"): {"quantity": ("Quantity must be a positive integer", TO_BUY)},
    ("POST", "/shopping-list/bulk"): {"lines": ("Lines must be 10000 characters or less", ["x" * 10_001, None])},
    ("POST", "/undo"): {"undoToken": ("Invalid undo token format", [*BAD_IDS, None])},
    ("POST", "/inventory"): {
        "itemId": ("Invalid inventory item ID format", [*BAD_IDS, None]),
        "name": (NAME, [*BAD_NAMES, None]),
        "quantity": ("Quantity must be an integer from 0 to 100,000", NOT_AT_HOME),
        "threshold": ("Threshold must be an integer from 0 to 100,000", NOT_AT_HOME),
        "unit": ("Unit must be 50 characters or less", ["x" * 51]),
        "locationId": ("Invalid location ID format", BAD_IDS),
        "preferredStoreId": (STORE, BAD_IDS),
        "alternateStoreIds": ("There can be at most 20 alternate stores", [[str(uuid4())] * 21, None]),
    },
    ("PATCH", "/inventory/{id}"): {
        "name": (NAME, BAD_NAMES),
        "quantity": ("Quantity must be an integer from 0 to 100,000", NOT_AT_HOME),
        "threshold": ("Threshold must be an integer from 0 to 100,000", NOT_AT_HOME),
        "unit": ("Unit must be 50 characters or less", ["x" * 51]),
        "locationId": ("Invalid location ID format", BAD_IDS),
        "preferredStoreId": (STORE, BAD_IDS),
        "alternateStoreIds": ("There can be at most 20 alternate stores", [[str(uuid4())] * 21, None]),
        "status": ("Status must be 'active' or 'archived'", ["gone", None]),
        "version": (VERSION, VERSIONS),
    },
    ("POST", "/inventory/{id}/adjust"): {
        "by": ("By must be an integer from -100,000 to 100,000", [100_001, -100_001, 0.5, "1", None]),
    },
    ("POST", "/stores"): {
        "storeId": (STORE, [*BAD_IDS, None]),
        "name": (NAME, [*BAD_NAMES, None]),
        "address": ("Address must be 200 characters or less", ["x" * 201]),
    },
    ("PATCH", "/stores/{id}"): {"name": (NAME, BAD_NAMES), "version": (VERSION, VERSIONS)},
    ("POST", "/locations"): {
        "locationId": ("Invalid location ID format", [*BAD_IDS, None]),
        "name": ("Name must be 1-50 characters", ["", " ", "x" * 51, None]),
        "description": ("Description must be 200 characters or less", ["x" * 201]),
    },
    ("PATCH", "/locations/{id}"): {
        "name": ("Name must be 1-50 characters", ["x" * 51]),
        "version": (VERSION, VERSIONS),
    },
    ("PATCH", ""): {"name": (NAME, BAD_NAMES), "version": (VERSION, VERSIONS)},
    ("PATCH", "/members/{id}"): {
        "role": ("Role must be 'admin' or 'member'", ["owner", "", None]),
        "version": (VERSION, VERSIONS),
    },
    ("POST", "/invitations"): {
        "role": ("Role must be 'admin' or 'member'", ["owner", None]),
        "email": (
            "E-mail must be an address such as ada@example.org, of at most 254 characters",
            ["ben", "a@b c", f"{'x' * 250}@example.org"],
        ),
    },
}

# What else a call needs to be good but for the one field.
GOOD = {
    ("POST", "/shopping-list"): {"name": "Milk"},
    ("PATCH", "/shopping-list/{id}"): {"version": 1},
    ("PATCH", "/shopping-list/{id}/status"): {"status": "purchased", "version": 1},
    ("POST", "/inventory"): {"name": "Milk"},
    ("PATCH", "/inventory/{id}"): {"version": 1},
    ("POST", "/stores"): {"name": "Grocer"},
    ("PATCH", "/stores/{id}"): {"version": 1},
    ("POST", "/locations"): {"name": "Cellar"},
    ("PATCH", "/locations/{id}"): {"version": 1},
    ("PATCH", ""): {"version": 1},
    ("PATCH", "/members/{id}"): {"role": "admin", "version": 1},
    ("POST", "/invitations"): {"role": "member"},
}

IN_PATH = [
    ("familyId", "Invalid family ID format", "/families/{}"),
    ("familyId", "Invalid family ID format", "/families/{}/shopping-list"),
    ("shoppingItemId", "Invalid shopping item ID format", "/families/{family}/shopping-list/{}"),
    ("itemId", "Invalid inventory item ID format", "/families/{family}/inventory/{}"),
    ("storeId", STORE, "/families/{family}/stores/{}"),
    ("locationId", "Invalid location ID format", "/families/{family}/locations/{}"),
    ("memberId", "Invalid member ID format", "/families/{family}/members/{}"),
    ("invitationId", "Invalid invitation ID format", "/families/{family}/invitations/{}"),
]


async def test_each_bad_value_gets_exactly_its_message(home):
    before = await home.calls.rows()
    tried = 0
    for (method, path), fields in FIELDS.items():
        for field, (message, values) in fields.items():
            for value in values:
                body = GOOD.get((method, path), {}) | {field: value}
                answer = await home.ask(method, path.format(id=uuid4()), body)
                found = problem(answer, 422, "invalid-fields")["errors"]
                assert found == [{"field": field, "message": message}], (method, path, field, value)
                tried += 1
    assert await home.calls.rows() == before
    assert tried > 200


async def test_a_quantity_is_at_most_a_hundred_thousand(home):
    tea = await home.make("/shopping-list", name="Tea", quantity=100_000)
    for value in (100_001, 10**30):
        for method, path, body in (
            ("POST", "/shopping-list", {"name": "Tea", "quantity": value}),
            ("PATCH", f"/shopping-list/{tea['shoppingItemId']}", {"version": 1, "quantity": value}),
        ):
            answer = await home.ask(method, path, body)
            assert problem(answer, 422, "invalid-fields")["errors"] == [
                {"field": "quantity", "message": "Quantity must be at most 100,000"}
            ]


async def test_a_new_family_needs_a_name(home):
    for name in (*BAD_NAMES, None):
        answer = await home.calls.ask("POST", "/families", {"name": name}, by=home.admin)
        assert problem(answer, 422, "invalid-fields")["errors"] == [{"field": "name", "message": NAME}], name


async def test_text_of_another_type_gets_its_message(home):
    for method, path in (("POST", "/shopping-list"), ("PATCH", f"/shopping-list/{uuid4()}")):
        for field, message in (("name", "Name must be text"), ("notes", "Notes must be text")):
            for value in NOT_TEXT:
                answer = await home.ask(method, path, {"name": "Tea", "version": 1, field: value})
                errors = problem(answer, 422, "invalid-fields")["errors"]
                assert {"field": field, "message": message} in errors, (method, field, value)


async def test_a_malformed_id_in_a_list_is_named_by_its_place(home):
    body = {"name": "Milk", "version": 1, "alternateStoreIds": [str(uuid4()), "x"]}
    for method, path in (("POST", "/inventory"), ("PATCH", f"/inventory/{uuid4()}")):
        errors = problem(await home.ask(method, path, body), 422, "invalid-fields")["errors"]
        assert {"field": "alternateStoreIds[1]", "message": STORE} in errors, method


async def test_a_deletion_with_a_malformed_version_is_refused(home):
    before = await home.calls.rows()
    things = ("shopping-list", "inventory", "stores", "locations", "members")
    for path in ("", *(f"/{thing}/{uuid4()}" for thing in things)):
        for if_match in ("1", '"1', '"1", "2"', ""):
            answer = await home.ask("DELETE", path, if_match=if_match)
            errors = problem(answer, 422, "invalid-fields")["errors"]
            assert [each["field"] for each in errors] == ["If-Match"], (path, if_match)
    assert await home.calls.rows() == before


async def test_a_malformed_id_in_an_address_gets_its_message(home):
    for field, message, path in IN_PATH:
        for value in BAD_IN_PATH:
            method = "DELETE" if "members/" in path or "invitations/" in path else "GET"
            answer = await home.calls.ask(method, path.format(value, family=home.family_id), by=home.admin)
            found = problem(answer, 422, "invalid-fields")["errors"]
            assert found == [{"field": field, "message": message}], (path, value)


PARAMETERS = [
    ("storeId=", "storeId", STORE),
    ("storeId=UNASSIGNED", "storeId", STORE),
    ("storeId=123E4567-E89B-12D3-A456-426614174000", "storeId", STORE),
    ("status=bought", "status", "Status must be 'pending' or 'purchased'"),
    ("limit=101", "limit", "limit must be a whole number from 1 to 100"),
    ("cursor=x", "cursor", "cursor must be a nextCursor of this list"),
    ("store=x", "store", "There is no such parameter"),
]


async def test_a_wrong_parameter_of_the_list_gets_its_message(home):
    for query, field, message in PARAMETERS:
        answer = await home.ask("GET", f"/shopping-list?{query}")
        assert problem(answer, 422, "invalid-fields")["errors"] == [{"field": field, "message": message}], query


async def test_everything_wrong_is_told_at_once(home):
    body = {"name": " ", "storeId": "x", "itemId": "y", "quantity": 0, "notes": "x" * 501, "unit": "x" * 51, "color": 1}
    found = problem(await home.ask("POST", "/shopping-list", body), 422, "invalid-fields")["errors"]
    assert {each["field"]: each["message"] for each in found} == {
        "itemId": "Invalid inventory item ID format",
        "name": NAME,
        "storeId": STORE,
        "quantity": "Quantity must be a positive integer",
        "unit": "Unit must be 50 characters or less",
        "notes": "Notes must be 500 characters or less",
        "color": "There is no such field",
    }
    assert len(found) == 7


async def test_free_text_needs_a_name_and_an_inventory_item_brings_one(home):
    for body in ({}, {"itemId": None}, {"quantity": 2}, {"name": None}):
        found = problem(await home.ask("POST", "/shopping-list", body), 422, "invalid-fields")["errors"]
        assert found == [{"field": "name", "message": NAME}]
    milk = await home.make("/inventory", name="Milk")
    assert (await home.make("/shopping-list", itemId=milk["itemId"], name=None))["name"] == "Milk"


async def test_what_the_design_allows_is_taken(home):
    for body in (
        {"name": "x", "quantity": None, "notes": None, "storeId": None, "itemId": None},
        {"name": "x" * 100, "quantity": 1, "notes": "", "unit": "x" * 50},
        {
            "name": "x",
            "quantity": 100_000,
            "notes": "x" * 500,
            "shoppingItemId": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        },
        {"name": "Ünï 🍰 می\u200cخواهم", "notes": "one\n\ttwo"},
    ):
        made = data(await home.ask("POST", "/shopping-list", body), 201)
        assert made["name"] == body["name"]


async def test_what_is_no_json_is_not_looked_at(home):
    path = f"{API}/families/{home.family_id}/shopping-list"
    headers = bearer(home.admin) | {"content-type": "application/json"}
    for raw in (b"", b"{", b'{"name": "\xff"}', b'{"name": "\\ud800"}'):
        answer = await home.calls.client.post(path, content=raw, headers=headers)
        problem(answer, 400, "not-json")
    answer = await home.calls.client.post(path, content=b"[]", headers=headers)
    assert problem(answer, 422, "invalid-fields")["errors"][0]["field"] == "body"
    twice = b'{"name": "Milk", "name": "Tea"}'
    answer = await home.calls.client.post(path, content=twice, headers=headers)
    assert problem(answer, 422, "invalid-fields")["errors"][0]["field"] == "name"
    large = json.dumps({"name": "Milk", "notes": "x" * 1_000_001}).encode()
    problem(await home.calls.client.post(path, content=large, headers=headers), 413, "too-large")
    plain = bearer(home.admin) | {"content-type": "text/plain"}
    problem(await home.calls.client.post(path, content=b'{"name": "Tea"}', headers=plain), 415, "wrong-media-type")
