"""What some tests need that no Python package brings. Where it is missing they are left out, and the run says so."""

import shutil
from collections.abc import Callable

import pytest

from tests import references

__all__ = ["BROWSERS", "LEFT_OUT", "missing", "need"]

# A skip whose reason starts so is one that a machine with everything installed would have run.
LEFT_OUT = "left out: "


# Chromium without windows and menus does the same to pages with three quarters of the work.
BROWSERS = ("chromium-headless-shell", "chromium")


def _program(*names: str) -> Callable[[], str | None]:
    return lambda: None if any(map(shutil.which, names)) else f"{' or '.join(names)} is not on the path"


def _package(name: str) -> Callable[[], str | None]:
    found = references.PACKAGES / name
    return lambda: None if found.is_dir() else f"the npm package {name} is not installed (make references)"


THINGS: dict[str, Callable[[], str | None]] = {
    "java": _program("java"),
    "node": _program("node"),
    "dynamodb-local": references.dynamodb_local_missing,
    "dynalite": references.dynalite_missing,
    "moto": references.moto_missing,
    "oidc-provider": references.oidc_provider_missing,
    "chromium": _program(*BROWSERS),
    "caddy": _program("caddy"),
    "nginx": _program("nginx"),
    "redis": _program("redis-server", "valkey-server"),
    "systemd-analyze": _program("systemd-analyze"),
    "faketime": _program("faketime"),
    "axe-core": _package("axe-core"),
}


def missing(name: str) -> str | None:
    """Why the named thing cannot be used here, or None when it can."""
    return THINGS[name]()


def need(*names: str) -> None:
    """Leave the running test out unless everything named is here; for fixtures, where a mark cannot be put."""
    for name in names:
        if reason := missing(name):
            pytest.skip(f"{LEFT_OUT}{name}: {reason}")
