"""Positions come back as they were given out, and nothing else is one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potluck.web.live.positions import LONGEST_POSITION, InvalidPosition, PositionCodec, tag_of

KEY = bytes(range(32))
CODEC = PositionCodec(KEY)

vectors = st.dictionaries(
    st.text(max_size=40), st.none() | st.integers(1, 10**40) | st.integers(-(2**62), -1), max_size=8
)


@given(st.integers(0, 2**39), st.dictionaries(st.text(max_size=20), vectors, max_size=3))
def test_a_position_comes_back(at: int, streams: dict[str, dict[str, int | None]]) -> None:
    position = CODEC.decode(CODEC.encode(at, [(tag_of(arn), vector) for arn, vector in streams.items()]))
    assert position.at == at
    assert position.streams == {
        tag_of(arn): {tag_of(shard): number for shard, number in vector.items()} for arn, vector in streams.items()
    }


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")) | st.text("abcXYZ09-_=", min_size=20))
def test_no_other_text_is_a_position(text: str) -> None:
    with pytest.raises(InvalidPosition):
        CODEC.decode(text)


def test_a_changed_position_is_none() -> None:
    position = CODEC.encode(1, [(tag_of("a"), {"s": 10**20})])
    for place in range(len(position) - 1):
        other = "A" if position[place] != "A" else "B"
        with pytest.raises(InvalidPosition):
            CODEC.decode(position[:place] + other + position[place + 1 :])
    with pytest.raises(InvalidPosition):
        CODEC.decode(position * (LONGEST_POSITION // len(position) + 1))


def test_a_position_of_another_key_is_none() -> None:
    with pytest.raises(InvalidPosition):
        PositionCodec(bytes(32)).decode(CODEC.encode(1, []))


def test_the_same_position_is_the_same_text_in_every_process() -> None:
    streams = [(tag_of("a"), {"s": 10**20})]
    assert CODEC.encode(5, streams) == PositionCodec(KEY).encode(5, streams)


def test_a_position_tells_nobody_how_much_changed() -> None:
    one, next_one = (CODEC.encode(5, [(tag_of("a"), {"s": 10**20 + n})]) for n in (7, 8))
    assert sum(a == b for a, b in zip(one, next_one, strict=True)) < len(one) / 4


def test_a_position_in_a_log_of_one_shard_is_short() -> None:
    assert len(CODEC.encode(2_000_000_000, [(tag_of("a"), {"s": 10**20})])) < 80
