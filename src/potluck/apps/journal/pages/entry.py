"""The page of one entry with its comments, for its athlete and for a coach.

The access decides how much of the entry the reader sees: a coach's page is given a SharedEntryView, a type that has no
private text.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from potluck.apps.journal.access import AtComment, ToEntry
from potluck.apps.journal.addresses import ATHLETES, ENTRIES
from potluck.apps.journal.comments import (
    CommentChange,
    CommentView,
    NewComment,
    add_comment,
    change_comment,
    comments,
    comments_on,
    delete_comment,
)
from potluck.apps.journal.entities import Comment
from potluck.apps.journal.entries import ReadsEntry, entries
from potluck.apps.journal.fields import Visibility, zone_of
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.frame import layout_context, long_date
from potluck.apps.journal.pages.metrics import WORN
from potluck.apps.journal.profile import time_zone_for
from potluck.apps.journal.times import day_of
from potluck.web import UNSET, Input, Show, Writes, _, formats, or_retry

ENTRY = f"{ENTRIES}/{{entry_id}}"


# Has the key of the reader's drafts, and comments by others.
@entries.page("/{entry_id}", "journal/entry.html", secret=True)
async def entry_page(at: ReadsEntry, show: Show) -> dict[str, Any]:
    zone = zone_of(await time_zone_for(at))
    today = day_of(at.now, zone)
    position = await at.position(comments_on(at))
    visible = [comment for comment in await at.store.all(comments_on(at)) if at.sees(comment)]
    athlete = "" if at.own else (await names_of(at.store, [at.meta.athlete_id])).get(at.meta.athlete_id, "")
    return {
        **layout_context("timeline" if at.own else "coaches"),
        "entry": at.shown,
        "entry_id": at.entry_id,
        "worn": WORN,
        "mine": at.own,
        "athlete": athlete,
        "back_to": ENTRIES if at.own else f"{ATHLETES}/{at.meta.athlete_id}",
        "day": long_date(day_of(at.shown.date, zone), today),
        "time": formats.date_text(at.shown.date.astimezone(zone), "time"),
        "comments": await at.show(CommentView, visible),
        "position": position,
        "read_at": at.now.isoformat(),
        "form": show.form(NewComment, {"commentId": str(at.new_id())}),
        "draft_key": at.journal.draft_key(at.own_id),
        # The name of the draft that was just saved.
        "draft_saved": show.query.get("draft", ""),
        "refused_before": show.refusal is not None,
    }


# --- comments ---------------------------------------------------------------------------------------------------------


@comments.form("", then=f"{ENTRY}?draft=comment-{{entry_id}}#comments", flash=_("Comment added."), on=entry_page)
async def comment_by_form(at: ToEntry, new: NewComment) -> Writes[Comment]:
    """Add a comment, once per form, however often it is sent."""
    sent_before = [
        comment for comment in await at.store.all(Comment.of_entry(at.entry_id)) if comment.comment_id == new.comment_id
    ]
    if any(comment.coach_id == at.own_id and comment.body == new.body for comment in sent_before):
        return Writes(sent_before[0])
    # A different text with the same id comes from a form that the browser went back to.
    writes = await add_comment(at, replace(new, comment_id=UNSET) if sent_before else new)
    # If the form was submitted twice at once, the retried rule finds what the other submission has written.
    return Writes(writes.answer, *map(or_retry, writes.operations))


@comments.page("", "journal/comment_edit.html")
async def comment_page(at: AtComment, comment: Comment, show: Show) -> dict[str, Any]:
    """The form to edit one's own comment."""
    if comment.coach_id != at.own_id:
        # Only the author may edit it: the rule raises the error.
        await change_comment(at, comment, CommentChange(body=comment.body))
    form = show.form(CommentChange, {"body": comment.body})
    return {
        **layout_context("timeline" if at.own else "coaches"),
        "address": f"{ENTRIES}/{at.entry_id}",
        "comment_id": at.comment_id,
        "version": comment.version,
        "conflict": form.conflict(show.clash, {"body": _("Comment")}),
        "form": form,
        "draft_key": at.journal.draft_key(at.own_id),
        "refused_before": bool(form.sent),
    }


comments.form(
    "/edit", then=f"{ENTRY}?draft=comment-{{comment_id}}#comments", flash=_("Comment saved."), on=comment_page
)(change_comment)
comments.form("/delete", then=f"{ENTRY}#comments", flash=_("Comment deleted."))(delete_comment)


class Hiding(Input):
    """Without a version: hiding applies even if the comment has changed."""

    visibility: Visibility


@comments.form("/visibility", then=f"{ENTRY}#comments")
async def hide_or_show(at: AtComment, comment: Comment, wanted: Hiding) -> Writes[Comment]:
    return await change_comment(at, comment, CommentChange(visibility=wanted.visibility))
