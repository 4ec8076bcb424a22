"""Every address of an app, asked by everyone who has no business there, and with nothing sent by those who have."""

import re
from collections.abc import Mapping

from tests.differential.script import Script, Who

__all__ = ["sweep"]

NEVER = "00000000-0000-4000-8000-ffffffffffff"
PARAMETER = re.compile(r"{(\w+)}")
# Asked last by those who may: nothing else is there afterwards.
ENDINGS = (
    "delete",
    "leave",
    "end",
    "stop",
    "withdraw",
    "revoke",
    "remove",
    "close",
    "forget",
    "end-others",
    "sign-out",
)


async def sweep(
    script: Script,
    prefixes: tuple[str, ...],
    ids: Mapping[str, str],
    outsiders: Mapping[str, tuple[Who, Who]],
    insiders: Mapping[str, tuple[Who, Who]],
    *,
    without: tuple[str, ...] = (),
) -> None:
    """Ask every address below the prefixes. Each person is a program and a browser; `ids` are those of things there."""
    addresses = sorted(
        {
            (method, path)
            for method, path in script.application.router.addresses()
            if path.startswith(prefixes) and not path.startswith(without) and "files/" not in path
        },
        key=lambda address: (_ends(address), address[1], address[0]),
    )
    # An address that is added or removed must not move the time of what follows.
    with script.clock_stopped():
        await _ask_all(addresses, ids, outsiders, insiders)
    script.clock.forward(minutes=10)


async def _ask_all(
    addresses: list[tuple[str, str]],
    ids: Mapping[str, str],
    outsiders: Mapping[str, tuple[Who, Who]],
    insiders: Mapping[str, tuple[Who, Who]],
) -> None:
    for method, path in addresses:
        names = PARAMETER.findall(path)
        here = path.format_map({name: ids.get(name, NEVER) for name in names})
        for who, (program, browser) in outsiders.items():
            await _ask(program, browser, f"{who}: {method} {path}", method, here)
        never = path.format_map(dict.fromkeys(names, NEVER))
        for who, (program, browser) in insiders.items():
            if never != here:
                await _ask(program, browser, f"{who}, nothing there: {method} {path}", method, never)
            if method != "GET":
                await _ask(program, browser, f"{who} sends nothing: {method} {path}", method, here)
                await _ask(program, browser, f"{who} sends nonsense: {method} {path}", method, here, nonsense=True)
            elif not path.endswith("/events"):
                await _ask(
                    program, browser, f"{who} asks nonsense: {method} {path}", method, f"{here}?since=x&limit=x&q="
                )


async def _ask(program: Who, browser: Who, label: str, method: str, path: str, *, nonsense: bool = False) -> None:
    who = program if path.startswith("/api/") else browser
    if path.endswith("/events"):
        async with who.listening(label, path) as stream:
            await stream.until(0)
    elif path.startswith("/api/"):
        await program.call(label, method, path, {"version": "x", "name": 1, "colour": "red"} if nonsense else None)
    elif method == "GET":
        await browser.page(label, path)
    else:
        await browser.form(label, path, {"version": "x", "name": "\u202e", "colour": "red"} if nonsense else {})


def _ends(address: tuple[str, str]) -> bool:
    method, path = address
    return method == "DELETE" or (method == "POST" and path.endswith(tuple(f"/{word}" for word in ENDINGS)))
