"""What the places are called that people are invited to; each app knows its own."""

from collections.abc import Awaitable, Callable, Iterable

from potluck.web.app import App

__all__ = ["PlaceNames"]


class PlaceNames:
    """Asks the app that a place is in."""

    def __init__(self, apps: Iterable[App]) -> None:
        self._names: dict[str, Callable[[str], Awaitable[str | None]]] = {app.name: app.place_name for app in apps}

    async def name_of(self, app: str, place: str) -> str | None:
        """What the place is called; None if its app does not say, or is not here."""
        named = self._names.get(app)
        return None if named is None else await named(place)
