"""The former names of `potluck.web.schema.coercion`, until nobody imports them."""

from potluck.web.schema.coercion import from_text, from_texts

__all__ = ["from_text", "from_texts"]
