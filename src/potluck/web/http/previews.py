"""Link previews: what messengers and search engines fetch when someone posts a link."""

import re

from starlette.requests import HTTPConnection

# User agents of messengers and search engines. Cubot is a maker of phones.
PREVIEWS = re.compile(
    r"(?<!cu)bot\b|crawl|spider|scrap|preview|externalhit|embed|unfurl|snippet|iframely"
    r"|whatsapp|skype|viber|mastodon|pleroma|akkoma|cardyb",
    re.IGNORECASE,
)


def is_preview(request: HTTPConnection) -> bool:
    """Whether a page is fetched for a link preview or by a crawler, and not by a person."""
    return PREVIEWS.search(request.headers.get("user-agent", "")) is not None
