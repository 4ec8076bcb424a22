"""What the address of a list takes: its own filters, with the rule about them, and which page of it."""

from collections.abc import Iterable

import pytest

from potluck.people.errors import InvalidFields, WrongField
from potluck.web.inputs import UNSET, Input, Unset
from potluck.web.pagination import list_input
from potluck.web.schema import decode_query


class Between(Input):
    since: int | Unset = UNSET
    until: int | Unset = UNSET

    @staticmethod
    def check(sent: "Between") -> Iterable[WrongField]:
        if sent.since is not UNSET and sent.until is not UNSET and sent.since > sent.until:
            yield WrongField("until", "until must not be before since")


def test_the_filters_of_a_list_are_held_to_their_own_rule():
    kind = list_input(Between)
    wanted = decode_query(kind, [("since", "1"), ("until", "2"), ("limit", "5")], strict=True)
    assert (kind.filter_of(wanted), wanted.limit) == (Between(since=1, until=2), 5)
    with pytest.raises(InvalidFields, match="until must not be before since"):
        decode_query(kind, [("since", "2"), ("until", "1")], strict=True)
