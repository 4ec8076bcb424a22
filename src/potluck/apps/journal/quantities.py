"""Numbers with their nouns and units, as pages and answers write them."""


def several(count: int, one: str) -> str:
    """ "1 round", "3 rounds"."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def hours(minutes: int) -> str:
    """A duration as people write it: 45 min, 3 h, 3 h 15."""
    whole, rest = divmod(minutes, 60)
    if not whole:
        return f"{rest} min"
    return f"{whole:,} h {rest:02}" if rest else f"{whole:,} h"
