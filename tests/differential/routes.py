"""Which of the suite's addresses were played: each has to be answered once, and refused once."""

from collections.abc import Iterable

from tests.differential.script import Played

__all__ = ["not_played"]

# Pages and files that take everyone and everything.
NEVER_REFUSED = frozenset(
    f"GET {path}"
    for path in (
        *("/", "/healthz", "/readyz", "/problems", "/schema", "/schema/openapi.json", "/style", "/hues.css"),
        *("/sign-in", "/sign-up", "/forgotten", "/reset", "/goodbye", "/invitation"),
        *("/shareables", "/shareables/new", "/polls", "/polls/new", "/library/spine"),
        *("/shopping/offline", "/shopping/worker.js"),
    )
)


def not_played(played: Iterable[Played]) -> dict[str, str]:
    """What is missing, by method and path."""
    outcomes: dict[tuple[str, str], set[bool]] = {}
    for chapter in played:
        for address in chapter.addresses:
            outcomes.setdefault(address, set())
        for method, path, answered in chapter.asked:
            address = _found(chapter.addresses, method, path)
            if address is not None:
                outcomes[address].add(answered)
    missing = {}
    for (method, path), seen in sorted(outcomes.items(), key=lambda item: (item[0][1], item[0][0])):
        lacks = [word for word, outcome in (("answered", True), ("refused", False)) if outcome not in seen]
        if f"{method} {path}" in NEVER_REFUSED:
            lacks = [word for word in lacks if word != "refused"]
        if lacks:
            missing[f"{method} {path}"] = f"never {' or '.join(lacks)}"
    return missing


def _found(addresses: Iterable[tuple[str, str]], method: str, path: str) -> tuple[str, str] | None:
    """The address that a path is answered by: the one with the fewest parameters."""
    parts = path.split("/")
    fitting = [address for address in addresses if address[0] == method and _fits(address[1].split("/"), parts)]
    return min(fitting, key=lambda address: [part.startswith("{") for part in address[1].split("/")], default=None)


def _fits(template: list[str], parts: list[str]) -> bool:
    if template[-1] == "{rest}":
        return template[:-1] == parts[: len(template) - 1]
    return len(template) == len(parts) and all(
        wanted.startswith("{") or wanted == part for wanted, part in zip(template, parts, strict=True)
    )
