"""Polls' card on the home page."""

from datetime import datetime, timedelta

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.entities import CreatedPoll, Poll, Vote
from potluck.apps.polls.keys import VoterKeys
from potluck.apps.polls.polls import served_polls
from potluck.apps.polls.results import turnout_of
from potluck.people import Principal
from potluck.store import all_done
from potluck.web import HomeCard, _, ngettext

ICON = "vote"
# Of a person's hundreds of polls, only the latest are counted.
POLLS_AT_A_GLANCE = 100
WAITING_SHOWN = 3
SOON = timedelta(days=1)


async def home_card(context: PollsContext, principal: Principal) -> HomeCard:
    """How many of the caller's polls are open, which of those close today, and which the caller has to close."""
    store = context.store
    created = (await store.page(CreatedPoll.of_creator(principal.user_id), POLLS_AT_A_GLANCE)).items
    polls = await served_polls(store, [row.poll_id for row in created])
    if not polls:
        return HomeCard.first(
            _("Everyone ranks the options, and you see how they’re counted."), _("New poll"), "/polls/new"
        )
    now = store.clock()
    open_polls = [poll for poll in polls if poll.is_open(now)]
    card = HomeCard(_("%(count)s open", count=len(open_polls)) if open_polls else _("None open"))
    closing = sorted(
        (
            (poll.expires_at, poll)
            for poll in open_polls
            if poll.expires_at is not None and poll.expires_at - now < SOON
        ),
        key=lambda pair: pair[0],
    )[:WAITING_SHOWN]
    missing = await _without_vote(context, principal, [poll for _at, poll in closing])
    for expires_at, poll in closing:
        address = f"/polls/{poll.poll_id}"
        if poll in missing:
            card.add(poll.title, _closes_without_vote(expires_at, now), address, ICON, _("Vote"))
        else:
            card.add(poll.title, _closes(expires_at, now), f"{address}/results", ICON, _("See votes"))
    endless = [poll for poll in open_polls if poll.expires_at is None][:WAITING_SHOWN]
    turnouts = await all_done([turnout_of(store, poll.poll_id) for poll in endless])
    for poll, turnout in zip(endless, turnouts, strict=True):
        if turnout.votes:
            note = ngettext("%(num)s vote, no closing date", "%(num)s votes, no closing date", turnout.votes)
            address = f"/polls/{poll.poll_id}"
            card.add(poll.title, note, f"{address}/results", ICON, _("Close"), at=f"{address}/manage")
    del card.waiting[WAITING_SHOWN:]
    return card


async def _without_vote(context: PollsContext, principal: Principal, polls: list[Poll]) -> list[Poll]:
    """The polls in which the caller certainly has not voted.

    Only where each account has one vote: in other polls it is found by what the voter's browser keeps.
    """
    by = VoterKeys(principal=principal)
    votes = [(poll, context.voters.vote_id(poll, by)) for poll in polls]
    by_account = [(poll, vote_id) for poll, vote_id in votes if vote_id is not None]
    cast = await context.store.get_many([Vote.one(poll.poll_id, vote_id) for poll, vote_id in by_account])
    return [poll for (poll, _vote_id), vote in zip(by_account, cast, strict=True) if vote is None]


def _closes(expires_at: datetime, now: datetime) -> str:
    hours = (expires_at - now) // timedelta(hours=1)
    if hours < 1:
        return _("Closes in less than an hour")
    return ngettext("Closes in %(num)s hour", "Closes in %(num)s hours", hours)


def _closes_without_vote(expires_at: datetime, now: datetime) -> str:
    return _("%(closes)s. You haven’t voted yet.", closes=_closes(expires_at, now))
