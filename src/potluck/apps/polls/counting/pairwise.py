"""The pairwise matrix: how many voters prefer one candidate to another."""

from collections.abc import Collection, Sequence

from potluck.apps.polls.counting.ballots import Contest

Matrix = tuple[tuple[int, ...], ...]


def pairwise(contest: Contest) -> Matrix:
    """matrix[a - 1][b - 1]: the number of ballots with a before b; ranked candidates are before those left out.

    Several at one rank are before the later ones, and equal among themselves.
    """
    # A row of the matrix is one integer with a field of bits for each opponent, wide enough for all votes. The next
    # candidate on a ballot gains its votes over all that come later: one multiplication and one addition, whatever the
    # number of opponents.
    bits = contest.votes.bit_length() + 1
    one = [0, *(1 << (bits * place) for place in range(contest.candidates))]
    later = sum(one)
    rows = [0] * len(one)
    if contest.plain:
        for path, count in zip(contest.paths, contest.counts, strict=True):
            below = later
            for candidate in path:
                below -= one[candidate]
                rows[candidate] += below * count
    else:
        for path, count in zip(contest.paths, contest.counts, strict=True):
            below = later
            passed: set[int] = set()
            for entry in path:
                if entry < 0:
                    break
                named = (entry,) if entry < len(one) else contest.several[entry - len(one)]
                new = [candidate for candidate in named if candidate not in passed]
                for candidate in new:
                    below -= one[candidate]
                for candidate in new:
                    rows[candidate] += below * count
                passed.update(new)
    field = (1 << bits) - 1
    return tuple(tuple((row >> (bits * place)) & field for place in range(contest.candidates)) for row in rows[1:])


def condorcet_winner(matrix: Sequence[Sequence[int]], among: Collection[int]) -> int | None:
    """The candidate who beats every other head to head, if there is one."""
    for a in among:
        if all(matrix[a - 1][b - 1] > matrix[b - 1][a - 1] for b in among if b != a):
            return a
    return None


def dominating(matrix: Sequence[Sequence[int]], among: Sequence[int], *, beaten: bool = False) -> list[int]:
    """The smallest group that beats all the others head to head (the Smith set); with `beaten`, that loses to them."""

    def wins(a: int, b: int) -> bool:
        return matrix[b - 1][a - 1] > matrix[a - 1][b - 1] if beaten else matrix[a - 1][b - 1] > matrix[b - 1][a - 1]

    won = {a: sum(wins(a, b) for b in among) for a in among}
    lost = {a: sum(wins(b, a) for b in among) for a in among}
    # Those who beat everyone outside the group have more wins minus losses than anyone outside, so they come first.
    by_wins = sorted(among, key=lambda candidate: (lost[candidate] - won[candidate], candidate))
    inside: list[int] = []
    outward = 0
    for candidate in by_wins:
        # Wins of those inside over those outside: all possible ones are needed.
        outward += won[candidate] - sum(wins(candidate, other) + wins(other, candidate) for other in inside)
        inside.append(candidate)
        if outward == len(inside) * (len(by_wins) - len(inside)):
            break
    return sorted(inside)
