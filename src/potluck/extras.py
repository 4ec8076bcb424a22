"""The extras: what `pip install potluck` leaves out, and the error that names the extra to install."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

_SERVER = frozenset({"uvicorn", "httptools"} if sys.platform == "win32" else {"uvicorn", "httptools", "uvloop"})
# The import names of each extra's packages; `tests/test_extras.py` compares them with pyproject.toml.
PACKAGES = {
    "server": _SERVER,
    "suite": _SERVER
    | {"starlette", "jinja2", "babel", "brotli", "argon2", "cryptography", "joserfc", "segno", "rapidfuzz", "PIL"},
    "aws": frozenset({"aiobotocore", "botocore"}),
    "fanout": frozenset({"redis"}),
    "testing": frozenset({"boto3", "botocore", "pytest", "yaml"}),
}


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message names the extra."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'potluck[{extra}]'", name=package)
        self.extra = extra


def extra_named(error: ImportError, expected: str | None = None) -> str | None:
    """The extra that installs the missing package: the expected one if it does; None if no extra does."""
    package = (error.name or "").partition(".")[0]
    extras = [extra for extra, packages in PACKAGES.items() if package in packages]
    if expected in extras:
        return expected
    return extras[0] if extras else None


@contextmanager
def needs_extra(expected: str | None = None) -> Iterator[None]:
    """Imports in this block that need an extra raise MissingExtra."""
    try:
        yield
    except (ModuleNotFoundError, MissingExtra) as error:
        extra = extra_named(error, expected)
        if extra is None or error.name is None:
            raise
        raise MissingExtra(error.name.partition(".")[0], extra) from error


def require_extra(extra: str) -> None:
    """MissingExtra if a package of the extra is not installed; imports nothing."""
    for package in sorted(PACKAGES[extra]):
        if find_spec(package) is None:
            raise MissingExtra(package, extra)
