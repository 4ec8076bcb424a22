"""The JSON door of results: who has won and why, the ballots to count again, the audit, and all of it live."""

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath, FromQuery
from msgspec import Meta

from potluck.apps.polls.bodies import AdminKey, BallotFormat, EditKey, MethodName, PollId
from potluck.apps.polls.counting import Results
from potluck.apps.polls.following import Following
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.poll_routes import POLL, TAGS
from potluck.apps.polls.problems import RESULTS_HIDDEN, VOTES_COMING_IN, WRONG_KEY
from potluck.apps.polls.service import Polls
from potluck.apps.polls.views import AuditShown
from potluck.people.authentication import Principal
from potluck.web.callers import Door
from potluck.web.live import Changes, Live
from potluck.web.live.positions import LONGEST_POSITION
from potluck.web.versions import tag_of, unchanged

__all__ = ["BALLOT_MEDIA_TYPES", "CSV", "ROUTES", "as_file"]

AnyRequest = Request[Any, Any, Any]

CSV = "text/csv"
BALLOT_MEDIA_TYPES = {"json": "application/json", "csv": CSV, "blt": "text/plain"}

Position = Annotated[str, Meta(max_length=LONGEST_POSITION)]
MAY_LOOK = {"problems": [RESULTS_HIDDEN]}


def as_file(content: str, media_type: str, name: str) -> Response[bytes]:
    """What a browser keeps under this name."""
    named = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "private, no-cache"}
    return Response(content.encode(), media_type=media_type, headers=named)


@get(f"{POLL}/results", tags=TAGS, opt=MAY_LOOK)
async def poll_results(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    request: AnyRequest,
    method: FromQuery[MethodName | None] = None,
    admin_key: AdminKey = None,
    edit_key: EditKey = None,
) -> Response[Results | None]:
    """Every round of the count by this method, or by the poll's own, with a sentence each. Who sees them while the poll
    is open, its `resultsVisibility` says."""
    by = Credentials(caller=visitor, admin_key=admin_key, edit_key=edit_key)
    found = await polls.results.read(by, poll_id, method)
    tag = tag_of(msgspec.json.encode(found))
    return unchanged(request, tag) or Response(found, headers={"etag": tag})


@get(f"{POLL}/results.csv", tags=TAGS, media_type=CSV, opt=MAY_LOOK)
async def poll_results_csv(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    method: FromQuery[MethodName | None] = None,
    admin_key: AdminKey = None,
    edit_key: EditKey = None,
) -> Response[bytes]:
    """The results as a table: a line for each candidate, cause of exhaustion and transfer of each round."""
    by = Credentials(caller=visitor, admin_key=admin_key, edit_key=edit_key)
    return as_file(await polls.results.csv(by, poll_id, method), CSV, "results.csv")


@get(f"{POLL}/ballots", tags=TAGS, opt=MAY_LOOK)
async def poll_ballots(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    format: FromQuery[BallotFormat] = "json",
    admin_key: AdminKey = None,
    edit_key: EditKey = None,
) -> Response[bytes]:
    """Every ranking and how many gave it, as a file that `potluck count` and others can count. It names no voter."""
    by = Credentials(caller=visitor, admin_key=admin_key, edit_key=edit_key)
    return as_file(await polls.results.ballots(by, poll_id, format), BALLOT_MEDIA_TYPES[format], f"ballots.{format}")


@get(f"{POLL}/audit", tags=TAGS, opt={"problems": [WRONG_KEY, VOTES_COMING_IN]})
async def poll_audit(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    method: FromQuery[MethodName | None] = None,
    admin_key: AdminKey = None,
) -> AuditShown:
    """A recount from the votes themselves, beside what the results show. For whoever made the poll."""
    return await polls.results.audit(Credentials(caller=visitor, admin_key=admin_key), poll_id, method)


@get(f"{POLL}/events", tags=TAGS, opt=MAY_LOOK)
async def poll_events(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    live: Live,
    door: Door,
    request: AnyRequest,
    admin_key: AdminKey = None,
    edit_key: EditKey = None,
) -> Response[Any]:
    """Votes counted so far and the record, as they change. Votes that come in together are told together."""
    following = Following(polls, Credentials(caller=visitor, admin_key=admin_key, edit_key=edit_key), poll_id)
    await following.must_see()
    return following.stream(request, live, door, visitor)


@get(f"{POLL}/changes", tags=TAGS, opt=MAY_LOOK)
async def poll_changes(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    live: Live,
    since: FromQuery[Position | None] = None,
    admin_key: AdminKey = None,
    edit_key: EditKey = None,
) -> Changes:
    """Votes counted so far and the record, if anything changed since the position; without one, where to begin."""
    following = Following(polls, Credentials(caller=visitor, admin_key=admin_key, edit_key=edit_key), poll_id)
    await following.must_see()
    return await following.changes(since, live)


ROUTES = [
    poll_results,
    poll_results_csv,
    poll_ballots,
    poll_audit,
    poll_events,
    poll_changes,
]
