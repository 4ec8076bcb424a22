"""Comments: what coaches say about an entry, and the athlete to them. Hidden ones are for author and athlete."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from potluck.apps.journal.access import AtComment, ToEntry
from potluck.apps.journal.addresses import ENTRIES
from potluck.apps.journal.entities import Comment, Entry, EntryMeta
from potluck.apps.journal.fields import CommentBody, CommentId, Visibility
from potluck.apps.journal.links import names_of
from potluck.people.secrets import new_id
from potluck.table import Change as FieldChange
from potluck.table import Query, absent, check, delete, present, put, the, update
from potluck.web.actions import Actions, FoundByAccess
from potluck.web.errors import ALREADY_EXISTS, TOO_MANY, Forbidden, NotFound, ProblemError
from potluck.web.inputs import UNSET, Change, New, Unset
from potluck.web.views import View, computed
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

__all__ = [
    "CommentChange",
    "CommentView",
    "NewComment",
    "add_comment",
    "change_comment",
    "comments",
    "comments_on",
    "delete_comment",
]

# All comments of an entry are read together.
MOST_COMMENTS = 1_000


class NotTheAuthor(Forbidden, detail="Only who wrote a comment may change its words"):
    """What others are told who would change a comment."""


class NotTheAthlete(Forbidden, detail="Only the athlete may hide a comment on their entry"):
    """What coaches are told who would hide a comment."""


class CommentThere(ProblemError):
    problem = ALREADY_EXISTS


class Authors:
    """What those who wrote are called, and who of them is asking."""

    def __init__(self, names: dict[UUID, str], own_id: UUID, by_athlete: bool) -> None:
        self.names, self.own_id, self.by_athlete = names, own_id, by_athlete

    @classmethod
    async def load(cls, at: Any, items: Sequence[Comment]) -> "Authors":
        return cls(await names_of(at.rows, [each.coach_id for each in items]), at.own_id, at.own)


class CommentView(View[Comment]):
    comment_id: UUID
    entry_id: UUID
    coach_id: UUID

    @computed
    def name(comment: Comment, authors: Authors) -> str | None:
        """What the author is called; null for somebody who is gone."""
        return authors.names.get(comment.coach_id)

    @computed
    def mine(comment: Comment, authors: Authors) -> bool:
        return comment.coach_id == authors.own_id

    @computed
    def may_hide(comment: Comment, authors: Authors) -> bool:
        """Whether the caller is the athlete, who may hide it or show it again."""
        return authors.by_athlete

    created_at: datetime
    body: str
    visibility: Visibility
    version: int


class NewComment(New[Comment]):
    body: CommentBody
    comment_id: CommentId | Unset = UNSET
    """Chosen by a device that was offline."""


class CommentChange(Change[Comment]):
    body: CommentBody | Unset = UNSET
    visibility: Visibility | Unset = UNSET


comments = Actions(
    ToEntry,
    FoundByAccess(Comment, "comment_id"),
    CommentView,
    api="/journal/entries/{entry_id}/comments",
    page=f"{ENTRIES}/{{entry_id}}/comments",
    tag="Journal",
)


@comments.list(live=True, row="journal/comment.html")
def comments_on(at: ToEntry) -> Query[Comment]:
    """What was said about an entry, as far as the caller may see it, the oldest first."""
    return Comment.of_entry(at.entry_id)


@comments.create(TOO_MANY, CommentThere)
async def add_comment(at: ToEntry, new: NewComment) -> Writes[Comment]:
    """Say something about an entry. The athlete and all of their coaches read it."""
    await at.must_fit(Comment.of_entry(at.entry_id), MOST_COMMENTS, "comments on an entry")
    comment = at.make(new, entry_id=at.entry_id, coach_id=at.own_id, comment_id=new.comment_id or new_id())
    said_at = Entry.athlete_said_at if at.own else Entry.coach_said_at
    counted = _counted(at, 1, the(said_at).becomes(comment.created_at))
    if new.comment_id is not UNSET:
        # The time stands before it in the key, so the key alone does not tell that the id is taken.
        if any(each.comment_id == new.comment_id for each in await at.rows.all(Comment.of_entry(at.entry_id))):
            raise CommentThere
        entry = await at.rows.get(at.entry)
        counted = or_retry(
            counted.operation.and_when(the(Entry.comments).still(0 if entry is None else entry.comments))
        )
    return Writes(comment, or_raise(put(comment, when=absent), CommentThere), counted)


@comments.change()
async def change_comment(at: AtComment, comment: Comment, change: CommentChange) -> Writes[Comment]:
    """Change one's own words, or, as the athlete, hide a comment or show it again."""
    if change.body is not UNSET and comment.coach_id != at.own_id:
        raise NotTheAuthor
    if change.visibility is not UNSET and not at.own:
        raise NotTheAthlete
    shown = _visible(comment)
    becomes = shown if change.visibility is UNSET else change.visibility == "visible"
    if shown != becomes:
        return at.apply(comment, change, _counted(at, 1 if becomes else -1))
    return at.apply(comment, change, or_raise(check(EntryMeta.one(at.entry_id), when=present), NotFound))


@comments.delete()
async def delete_comment(at: AtComment, comment: Comment) -> Writes[None]:
    """Take back what one said."""
    if comment.coach_id != at.own_id:
        raise NotTheAuthor
    counting = [_counted(at, -1)] if _visible(comment) else []
    return Writes(None, or_retry(delete(comment, when=the(Comment.version).still(comment.version))), *counting)


def _visible(comment: Comment) -> bool:
    return comment.visibility == "visible"


def _counted(at: ToEntry, more: int, *said: FieldChange) -> Outcome:
    """How many there are then; asked again, the rule finds an entry that has moved, or that it is gone."""
    return or_retry(update(at.entry, the(Entry.comments).add(more), *said, when=present, keep_version=True))
