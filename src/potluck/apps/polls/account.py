"""Account export and deletion: what an account's owner gets from polls, and what is deleted with the account.

Polls that people made while signed in are deleted with their account, votes and all. Their votes in other people's
polls stay, because a vote does not identify its voter. Its id is a keyed hash of poll and voter, which cannot be
computed again once the account is gone; so nothing links the person to the vote, while removing votes from final
results would change what others decided together. For the same reason the export has no votes: to list a person's
votes, we would have to store who voted where.
"""

from collections.abc import AsyncIterator
from uuid import UUID

from msgspec import Struct

from potluck.apps.polls.context import PollsContext
from potluck.apps.polls.deletion import Deletions, deleting
from potluck.apps.polls.entities import CountRow, CreatedPoll, Deletion, Poll, Ranking
from potluck.apps.polls.polls import view_of
from potluck.table import WriteRefused


class BallotsOfPoll(Struct, rename="camel", frozen=True, kw_only=True):
    """One ranking in the export of a poll's creator, and how many voters gave it; who they are is not stored."""

    poll_id: UUID
    ranking: list[str]
    count: int


class PollsData:
    """Exports and deletes one person's polls."""

    def __init__(self, context: PollsContext) -> None:
        self._store = context.store
        self._deletions = Deletions(context.store)

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """The person's polls, and the anonymous rankings that were cast in them."""
        created = await self._store.all(CreatedPoll.of_creator(user_id))
        polls = [poll for poll in await self._store.get_many([Poll.one(row.poll_id) for row in created]) if poll]
        now = self._store.clock()
        for poll in polls:
            yield "polls", view_of(poll, now)
        for poll in polls:
            counts: dict[Ranking, int] = {}
            async for row in self._store.each(CountRow.of_poll(poll.poll_id)):
                counts[row.ranking] = counts.get(row.ranking, 0) + row.count
            for ranking, count in counts.items():
                if count:
                    yield "ballots", BallotsOfPoll(poll_id=poll.poll_id, ranking=poll.names(ranking), count=count)

    async def forget(self, user_id: UUID) -> None:
        """Delete every poll of this person, to the last row; safe to call again after an interruption."""
        for created in await self._store.all(CreatedPoll.of_creator(user_id)):
            await self._forget(created)

    async def _forget(self, created: CreatedPoll) -> None:
        now = self._store.clock().replace(microsecond=0)
        async for _ in self._store.attempts("deleting a poll"):
            poll = await self._store.get(Poll.one(created.poll_id))
            if poll is None:
                await self._store.delete(created)
                break
            try:
                await self._store.transact(*deleting(poll, now))
                break
            except WriteRefused:
                # Closed, reopened or deleted in the meantime: read it again, and delete what is there.
                continue
        work = await self._deletions.finishing(Deletion(poll_id=created.poll_id, deleted_at=now))
        await work.completed(self._store)
