"""Pages as a test reads them."""

from html.parser import HTMLParser

__all__ = ["BROWSER", "Page"]

# What a browser says it takes.
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


class Page(HTMLParser):
    """The tags of a page, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words += data

    def all(self, *names: str) -> list[dict[str, str | None]]:
        """The attributes of every tag of these names."""
        return [attributes for tag, attributes in self.tags if tag in names]
