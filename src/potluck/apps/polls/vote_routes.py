"""The JSON door of votes: one each, changed and withdrawn by whoever holds its key."""

from litestar import Response, delete, post, put
from litestar.params import FromPath, JSONBody
from litestar.status_codes import HTTP_204_NO_CONTENT

from potluck.apps.polls.bodies import EditKey, NewVote, PollId, VoteChange, VoteId
from potluck.apps.polls.keys import Credentials
from potluck.apps.polls.poll_routes import POLL, TAGS
from potluck.apps.polls.problems import ALREADY_VOTED, CODE_NEEDED, POLL_CLOSED, WRONG_KEY
from potluck.apps.polls.service import Polls
from potluck.apps.polls.views import VoteCast, VoteShown
from potluck.people.authentication import Principal
from potluck.web.errors import NOT_SIGNED_IN
from potluck.web.once import Made, Once, Told

__all__ = ["ROUTES"]

VOTES = f"{POLL}/votes"
VOTE = f"{VOTES}/{{vote_id:str}}"


@post(VOTES, tags=TAGS, opt={"problems": [ALREADY_VOTED, POLL_CLOSED, CODE_NEEDED, NOT_SIGNED_IN]})
async def cast_vote(
    poll_id: FromPath[PollId], data: JSONBody[NewVote], visitor: Principal | None, polls: Polls, once: Once
) -> Response[VoteCast]:
    """Vote, once. The vote's `editKey` is told only now; whoever holds it can change the vote or withdraw it."""
    by = Credentials(caller=visitor, voter_key=data.voter_key, code=data.code)
    return await once(
        lambda alongside: polls.votes.cast(by, poll_id, data.rankings, alongside),
        # Not the vote's id, which would be kept for a day beside its voter's.
        lambda cast: Made(cast, poll_id, secret=True),
        account_checked=True,
    )


@put(VOTE, tags=TAGS, opt={"problems": [WRONG_KEY, POLL_CLOSED]})
async def change_vote(
    poll_id: FromPath[PollId],
    vote_id: FromPath[VoteId],
    data: JSONBody[VoteChange],
    visitor: Principal | None,
    polls: Polls,
    edit_key: EditKey = None,
) -> VoteShown:
    """Say something else, until the poll is closed."""
    by = Credentials(caller=visitor, edit_key=edit_key)
    return await polls.votes.change(by, poll_id, vote_id, data.rankings)


@delete(VOTE, tags=TAGS, opt={"problems": [WRONG_KEY, POLL_CLOSED]})
async def withdraw_vote(
    poll_id: FromPath[PollId],
    vote_id: FromPath[VoteId],
    visitor: Principal | None,
    polls: Polls,
    once: Once,
    edit_key: EditKey = None,
) -> Response[None]:
    """Take the vote back, until the poll is closed. Its voter may vote again."""
    by = Credentials(caller=visitor, edit_key=edit_key)
    return await once(
        lambda alongside: polls.votes.withdraw(by, poll_id, vote_id, alongside),
        lambda _: Told(body=None, status=HTTP_204_NO_CONTENT),
    )


ROUTES = [cast_vote, change_vote, withdraw_vote]
