"""Random contests: few candidates and few votes, so that ties and circles are common."""

from collections import Counter

from hypothesis import strategies as st

from potluck.apps.polls.counting import Rules


@st.composite
def plain_votes(draw, candidates, most=24):
    """Each candidate at most once, as polls accept them."""
    numbers = st.permutations(range(1, candidates + 1))
    ranking = st.tuples(numbers, st.integers(1, candidates)).map(lambda drawn: tuple(drawn[0][: drawn[1]]))
    return Counter(draw(st.lists(ranking, min_size=1, max_size=most)))


@st.composite
def marked_votes(draw, candidates, most=16):
    """As on paper: ranks left empty, overvoted and repeated."""
    number = st.integers(1, candidates)
    several = st.sets(number, min_size=2, max_size=3).map(lambda named: tuple(sorted(named)))
    mark = st.one_of(number, number, number, number, st.just(()), *([several] if candidates > 1 else []))
    ranking = st.lists(mark, max_size=candidates + 1).map(tuple)
    return Counter(draw(st.lists(ranking, min_size=1, max_size=most)))


@st.composite
def contests(draw, votes=plain_votes, least=2, most=5):
    candidates = draw(st.integers(least, most))
    return candidates, draw(votes(candidates)), draw(st.permutations(range(1, candidates + 1)))


@st.composite
def ballot_rules(draw, **others):
    return Rules(
        overvote=draw(st.sampled_from(["exhaust", "skip", "exhaust-if-several"])),
        skipped_ranks=draw(st.sampled_from([None, 0, 1])),
        repeats=draw(st.sampled_from(["ignore", "exhaust"])),
        ties=draw(st.sampled_from(["previous-rounds", "lot"])),
        **others,
    )
