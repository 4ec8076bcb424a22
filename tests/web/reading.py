"""Pages as a test reads them."""

from html.parser import HTMLParser

__all__ = ["BROWSER", "Page", "fields_of"]

# What a browser says it takes.
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


class Page(HTMLParser):
    """The tags of a page, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words += data
        self.texts.append(data.strip())

    def all(self, *names: str) -> list[dict[str, str | None]]:
        """The attributes of every tag of these names."""
        return [attributes for tag, attributes in self.tags if tag in names]


def fields_of(text: str, action: str) -> dict[str, str | list[str]]:
    """What the first form that is sent to this address holds, as a browser without scripts would send it."""
    read = _Forms()
    read.feed(text)
    form = next(number for number, attributes in enumerate(read.forms) if attributes.get("action") == action)
    found: dict[str, list[str]] = {}
    for of, name, value in read.fields:
        if of is not None and of in (form, read.forms[form].get("id")):
            found.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


class _Forms(HTMLParser):
    """The forms of a page, and the fields that each would send: (its number or its id, name, value)."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[dict[str, str | None]] = []
        self.fields: list[tuple[int | str | None, str, str]] = []
        self._within: int | None = None
        self._text: tuple[str, list[str]] | None = None
        self._choice = ""
        self._template = False

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self._template = self._template or tag == "template"
        if self._template:
            return
        if tag == "form":
            self._within = len(self.forms)
            self.forms.append(given)
        name, of = given.get("name"), given.get("form") or self._within
        if tag == "option" and self._choice and ("selected" in given or self.fields[-1][2] == "\0"):
            self.fields[-1] = (*self.fields[-1][:2], given.get("value") or "")
        if name is None or "disabled" in given:
            return
        if tag == "select":
            self._choice = name
            self.fields.append((of, name, "\0"))
        elif tag == "textarea":
            self._text = (name, [])
        elif tag == "input" and (given.get("type") not in ("radio", "checkbox") or "checked" in given):
            self.fields.append((of, name, given.get("value") or ""))

    def handle_data(self, data):
        if self._text is not None:
            self._text[1].append(data)

    def handle_endtag(self, tag):
        if tag == "textarea" and self._text is not None:
            name, parts = self._text
            self.fields.append((self._within, name, "".join(parts)))
            self._text = None
        elif tag == "template":
            self._template = False
        elif tag == "form":
            self._within = None
        elif tag == "select":
            self._choice = ""
