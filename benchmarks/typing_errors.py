"""What happens to words while people type them."""

import random

__all__ = ["dropped", "shuffled", "typo"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def typo(text: str, drawn: random.Random) -> str:
    """One letter too many, too few, another one, or two swapped."""
    place = drawn.randrange(len(text) - 1)
    return drawn.choice(
        [
            text[:place] + text[place + 1 :],
            text[:place] + drawn.choice(LETTERS) + text[place:],
            text[:place] + drawn.choice(LETTERS) + text[place + 1 :],
            text[:place] + text[place + 1] + text[place] + text[place + 2 :],
        ]
    )


def dropped(text: str, drawn: random.Random) -> str:
    """Without one of its words, if there are more than two."""
    words = text.split()
    if len(words) > 2:
        del words[drawn.randrange(len(words))]
    return " ".join(words)


def shuffled(text: str, drawn: random.Random) -> str:
    """Its words in another order."""
    words = text.split()
    drawn.shuffle(words)
    return " ".join(words)
