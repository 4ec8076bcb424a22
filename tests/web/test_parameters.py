from datetime import date
from typing import Annotated, Any
from uuid import UUID

import pytest
from litestar import Litestar, Request, Response, Router, get
from litestar.di import NamedDependency, Provide
from litestar.exceptions import ValidationException
from litestar.params import FromPath, QueryParameter
from litestar.testing import TestClient

from potluck.people.errors import InvalidFields
from potluck.web.bodies import check_parameters, wrong_parameters

ID = "3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f"
NOTE = f"/api/v1/notes/{ID}"


def part(
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 50, cursor: Annotated[str | None, QueryParameter()] = None
) -> tuple[int, str | None]:
    return limit, cursor


@get("/notes/{note_id:str}")
async def one(
    note_id: FromPath[UUID],
    part: NamedDependency[tuple[int, Any]],
    due: Annotated[date | None, QueryParameter(name="dueBefore")] = None,
    tags: Annotated[list[str] | None, QueryParameter()] = None,
) -> dict[str, Any]:
    return {"noteId": note_id, "limit": part[0], "due": due, "tags": tags}


@get("/notes/{note_id:str}/changes")
async def changes(note_id: FromPath[UUID], since: Annotated[str, QueryParameter()]) -> str:
    return since


@get("/pages")
async def page(number: Annotated[int, QueryParameter(ge=1, le=9)] = 1) -> int:
    return number


def told(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    if isinstance(error, ValidationException):
        error = wrong_parameters(error, request.route_handler)
    errors = error.errors if isinstance(error, InvalidFields) else ()
    return Response({each.field: each.message for each in errors}, status_code=422 if errors else 500)


def application(**options: Any) -> Litestar:
    return Litestar(
        [Router("/api/v1", route_handlers=[one, changes]), page],
        dependencies={"part": Provide(part, sync_to_thread=False)},
        exception_handlers={Exception: told},
        openapi_config=None,
        logging_config=None,
        **options,
    )


@pytest.fixture(scope="module")
def client():
    with TestClient(application(before_request=check_parameters)) as client:
        yield client


def refused(client: TestClient[Litestar], path: str) -> dict[str, str]:
    answer = client.get(path)
    assert answer.status_code == 422
    found: dict[str, str] = answer.json()
    return found


def test_parameters_are_given_as_they_were_declared(client):
    answer = client.get(f"{NOTE}?limit=100&dueBefore=2026-05-17&tags=a&tags=b")
    assert answer.json() == {"noteId": ID, "limit": 100, "due": "2026-05-17", "tags": ["a", "b"]}


@pytest.mark.parametrize("wrong", [ID.upper(), ID.replace("-", ""), ID[:-1], "soup", f"{{{ID}}}", "%ff"])
def test_an_id_in_an_address_is_a_uuid_in_lower_case(client, wrong):
    assert refused(client, f"/api/v1/notes/{wrong}") == {"noteId": f"noteId must be a UUID in lower case, such as {ID}"}


@pytest.mark.parametrize("wrong", ["0", "101", "", "007", "+5", "-1", "5.0", "5e0", "1_0", " 5", "٥", "9" * 5000])
def test_a_limit_is_a_whole_number_within_its_bounds(client, wrong):
    answer = client.get(NOTE, params={"limit": wrong})
    assert answer.json() == {"limit": "limit must be a whole number from 1 to 100"}


def test_a_parameter_that_nobody_knows_is_refused_in_the_api_and_let_be_on_pages(client):
    assert refused(client, f"{NOTE}?curser=x") == {"curser": "There is no such parameter"}
    assert client.get("/pages?number=2&utm_source=somewhere").json() == 2


def test_a_parameter_that_is_given_twice_is_refused(client):
    assert refused(client, f"{NOTE}?limit=1&limit=2") == {"limit": "limit is given more than once"}


def test_a_missing_parameter_is_named(client):
    assert refused(client, f"{NOTE}/changes") == {"since": "since is missing"}


def test_all_that_is_wrong_is_told_at_once_by_the_names_that_were_sent(client):
    wrong = refused(client, "/api/v1/notes/soup?limit=0&dueBefore=tomorrow&due=2026-05-17")
    assert wrong == {
        "noteId": f"noteId must be a UUID in lower case, such as {ID}",
        "limit": "limit must be a whole number from 1 to 100",
        "dueBefore": "dueBefore must be a date such as 2026-05-17",
        "due": "There is no such parameter",
    }


def test_what_the_framework_finds_is_told_in_the_same_words():
    with TestClient(application()) as client:
        assert refused(client, f"{NOTE}?limit=0") == {"limit": "limit must be a whole number from 1 to 100"}
        assert refused(client, f"{NOTE}?dueBefore=tomorrow") == {
            "dueBefore": "dueBefore must be a date such as 2026-05-17"
        }
        assert refused(client, f"{NOTE}/changes") == {"since": "since is missing"}
