"""The JSON door of polls: making one, and looking after it."""

from typing import Any

from litestar import Request, Response, delete, get, patch, post
from litestar.params import FromPath, JSONBody
from litestar.status_codes import HTTP_200_OK, HTTP_204_NO_CONTENT

from potluck.apps.polls.bodies import AdminKey, NewCodes, NewPoll, PollChange, PollId, Reopening, settings_in
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.problems import NO_CODES_ASKED, VOTES_BEGUN, WRONG_KEY
from potluck.apps.polls.service import Polls
from potluck.apps.polls.views import CodesMade, PollMade, PollShown
from potluck.people.authentication import Principal
from potluck.web.cursors import Listed, Part
from potluck.web.once import Made, Once, Told
from potluck.web.versions import etag, expected, seen

__all__ = ["POLL", "ROUTES", "TAGS"]

AnyRequest = Request[Any, Any, Any]

TAGS = ["Polls"]
POLL = "/polls/{poll_id:str}"
# A body that says nothing, or none at all.
AS_IT_WAS = Reopening()


def told(poll: PollShown) -> Told[PollShown]:
    return Told(body=poll, headers={"etag": etag(poll.version)})


def made(poll: PollMade) -> Told[PollMade]:
    return Made(poll, poll.id, headers={"etag": etag(poll.version)}, secret=True)


@post("/polls", tags=TAGS)
async def create_poll(
    data: JSONBody[NewPoll], visitor: Principal | None, polls: Polls, once: Once
) -> Response[PollMade]:
    """Make a poll; nobody has to be signed in. Its `adminKey` is told only now."""
    by = Credentials(caller=visitor)
    return await once(
        lambda alongside: polls.authoring.create(by, settings_in(data), alongside), made, account_checked=True
    )


@get("/polls", tags=TAGS)
async def own_polls(caller: Principal, polls: Polls, part: Part) -> Listed[PollShown]:
    """The polls that the caller made signed in, newest first."""
    return part.answer(await polls.authoring.own(caller, part.limit, part.after), lambda poll: poll)


@get(POLL, tags=TAGS)
async def one_poll(poll_id: FromPath[PollId], polls: Polls) -> Response[PollShown]:
    """A poll, for anyone who has its id: what is asked, who may vote, and the order of the lots."""
    # Its time passes without a change of its version, so the tag is good for If-Match and never for 304.
    poll = await polls.authoring.one(poll_id)
    return Response(poll, headers={"etag": etag(poll.version)})


@patch(POLL, tags=TAGS, opt={"problems": [WRONG_KEY, VOTES_BEGUN]})
async def change_poll(
    poll_id: FromPath[PollId],
    data: JSONBody[PollChange],
    visitor: Principal | None,
    polls: Polls,
    once: Once,
    request: AnyRequest,
    admin_key: AdminKey = None,
) -> Response[PollShown]:
    """Change a poll, until somebody has voted. With other candidates, the lots are drawn anew."""
    by = Credentials(caller=visitor, admin_key=admin_key)
    version = seen(request, data.version)
    return await once(lambda alongside: polls.authoring.edit(by, poll_id, version, settings_in(data), alongside), told)


@delete(POLL, tags=TAGS, opt={"if_match": True, "problems": [WRONG_KEY]})
async def delete_poll(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    once: Once,
    request: AnyRequest,
    admin_key: AdminKey = None,
) -> Response[None]:
    """Delete a poll with every vote in it."""
    by = Credentials(caller=visitor, admin_key=admin_key)
    version = expected(request)
    return await once(
        lambda alongside: polls.authoring.delete(by, poll_id, version, alongside),
        lambda _: Told(body=None, status=HTTP_204_NO_CONTENT),
    )


@post(f"{POLL}/close", tags=TAGS, status_code=HTTP_200_OK, opt={"problems": [WRONG_KEY]})
async def close_poll(
    poll_id: FromPath[PollId], visitor: Principal | None, polls: Polls, once: Once, admin_key: AdminKey = None
) -> Response[PollShown]:
    """Take no more votes; the results are final. What is closed stays as it is."""
    by = Credentials(caller=visitor, admin_key=admin_key)
    return await once(lambda alongside: polls.authoring.close(by, poll_id, alongside), told)


@post(f"{POLL}/reopen", tags=TAGS, status_code=HTTP_200_OK, opt={"problems": [WRONG_KEY]})
async def reopen_poll(
    poll_id: FromPath[PollId],
    visitor: Principal | None,
    polls: Polls,
    once: Once,
    data: JSONBody[Reopening] = AS_IT_WAS,
    admin_key: AdminKey = None,
) -> Response[PollShown]:
    """Take votes again, until another time if one is given. A time that has passed is none any more."""
    by = Credentials(caller=visitor, admin_key=admin_key)
    return await once(lambda alongside: polls.authoring.reopen(by, poll_id, data.expires_at, alongside), told)


@post(f"{POLL}/duplicate", tags=TAGS, opt={"problems": [WRONG_KEY]})
async def duplicate_poll(
    poll_id: FromPath[PollId], visitor: Principal | None, polls: Polls, once: Once, admin_key: AdminKey = None
) -> Response[PollMade]:
    """Make another poll like it, open, without its votes and codes, with lots and an `adminKey` of its own."""
    by = Credentials(caller=visitor, admin_key=admin_key)
    return await once(lambda alongside: polls.authoring.duplicate(by, poll_id, alongside), made, account_checked=True)


@post(f"{POLL}/codes", tags=TAGS, opt={"problems": [WRONG_KEY, NO_CODES_ASKED]})
async def make_codes(
    poll_id: FromPath[PollId],
    data: JSONBody[NewCodes],
    visitor: Principal | None,
    polls: Polls,
    once: Once,
    admin_key: AdminKey = None,
) -> Response[CodesMade]:
    """Make codes to hand out, each good for one vote. They are told only now."""
    by = Credentials(caller=visitor, admin_key=admin_key)
    return await once(
        lambda alongside: polls.authoring.make_codes(by, poll_id, data.count, alongside),
        lambda codes: Made(codes, poll_id, secret=True),
    )


ROUTES = [
    create_poll,
    own_polls,
    one_poll,
    change_poll,
    delete_poll,
    close_poll,
    reopen_poll,
    duplicate_poll,
    make_codes,
]
