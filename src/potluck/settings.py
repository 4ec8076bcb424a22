"""What an operator may choose, read from POTLUCK_* environment variables; every default works."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

__all__ = ["EngineName", "Settings", "SettingsError"]

EngineName = Literal["embedded", "aws"]

STORE_FILE = "potluck.db"


class SettingsError(ValueError):
    """A setting that cannot be used; the message names the variable and what it may be."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    engine: EngineName = "embedded"
    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = 8000
    # Without a region or an endpoint the AWS SDK looks in its own places, as its users expect.
    region: str | None = None
    endpoint: str | None = None
    table_prefix: str = ""

    @property
    def file(self) -> Path:
        """Where the embedded engine keeps everything."""
        return self.data / STORE_FILE

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """The settings that POTLUCK_* variables give; an empty variable counts as not set."""

        def given(name: str, default: str) -> str:
            return environment.get(f"POTLUCK_{name}") or default

        engine = given("ENGINE", cls.engine)
        if engine not in get_args(EngineName):
            raise SettingsError(f"POTLUCK_ENGINE is {engine!r}; it may be 'embedded' or 'aws'")
        return cls(
            engine=cast(EngineName, engine),
            data=Path(given("DATA", str(cls.data))),
            host=given("HOST", cls.host),
            port=_port(given("PORT", str(cls.port))),
            region=given("REGION", "") or None,
            endpoint=_endpoint(given("ENDPOINT", "")),
            table_prefix=given("TABLE_PREFIX", cls.table_prefix),
        )


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise SettingsError(f"POTLUCK_PORT is {text!r}; it must be a number from 0 to 65535")
    return int(text)


def _endpoint(text: str) -> str | None:
    if text and not text.startswith(("http://", "https://")):
        raise SettingsError(f"POTLUCK_ENDPOINT is {text!r}; it must begin with http:// or https://")
    return text or None
