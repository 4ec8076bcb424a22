"""The operator's settings, read from POTLUCK_* environment variables; every default works.

A setting is declared once, as a field: `potluck --help`, the check of names, and the test of the README's table follow.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from potluck.acceleration import BY_ENVIRONMENT, Accelerations, chosen_by
from potluck.setting_types import (
    SECONDS_IN,
    UNITS,
    Network,
    Setting,
    SettingsError,
    at_least,
    duration,
    group,
    issuer,
    line,
    must_be_known,
    networks,
    one_of,
    port_or_address,
    read_settings,
    redis_address,
    setting,
    settings_of,
    site_origin,
    size,
    web_address,
    web_address_or_off,
    whole_number,
)

__all__ = ["AssistantSettings", "EngineName", "IdentityProviderSettings", "Registration", "Settings", "SettingsError"]

EngineName = Literal["embedded", "aws"]
Registration = Literal["open", "invited", "approval", "closed"]
Logged = Literal["problems", "requests"]
Where = Literal["here", "elsewhere"]
AssistantName = Literal["embedded", "openai", "anthropic"]
Plain = Literal["0", "1"]
OnOff = Literal["on", "off"]

LOOPBACK = "127.0.0.1"
STORE_FILE = "potluck.db"
OPEN_LIBRARY = "https://openlibrary.org"
SHORTEST_SECRET = 32
# More than any machine can use; a typo should not start thousands.
MOST_WORKERS = 64
# On Amazon DynamoDB every check and every renewal of a lease costs money.
TAKEOVER_SECONDS = {"embedded": 5, "aws": 20}
SHORTEST_TAKEOVER, LONGEST_TAKEOVER = 5, 600
# A smaller budget would not last a few people's changes for an hour.
SMALLEST_BUDGET = 10 * UNITS["MB"]
ASSISTANT_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
LONGEST_ASSISTANT_TIMEOUT = 120
SHORTEST_BACKUP_INTERVAL, LONGEST_BACKUP_INTERVAL = 5 * SECONDS_IN["m"], 31 * SECONDS_IN["d"]
MOST_BACKUPS = 1000
# It is on a button.
LONGEST_PROVIDER_NAME = 40


def _on(text: str) -> bool:
    return bool(one_of(OnOff)(text) == "on")


def _plain(text: str) -> Accelerations:
    return chosen_by(one_of(Plain)(text))


@dataclass(frozen=True, kw_only=True)
class AssistantSettings:
    """The journal's assistant; `embedded` needs nothing else, and sends nothing anywhere."""

    provider: AssistantName = setting(
        "embedded",
        one_of(AssistantName),
        "who answers questions about a journal: embedded, openai or anthropic",
        variable="ASSISTANT",
    )
    # The base URL, without the path of a call such as /chat/completions. It may have a key in it.
    url: str = setting("", web_address, "where the assistant is", default_text="the provider's own", secret=True)
    model: str = setting("", str, "which model the assistant uses")
    key: str | None = setting(None, str, "the assistant's API key", secret=True)
    timeout: int = setting(
        20, whole_number(1, LONGEST_ASSISTANT_TIMEOUT, "seconds"), "how many seconds the assistant may take"
    )

    def completed(self) -> "AssistantSettings":
        if self.provider == "embedded":
            return AssistantSettings()
        if not self.model:
            raise SettingsError(f"POTLUCK_ASSISTANT is {self.provider!r}; POTLUCK_ASSISTANT_MODEL must say which model")
        return replace(self, url=self.url or ASSISTANT_URLS[self.provider])


@dataclass(frozen=True, kw_only=True)
class BackupSettings:
    """Backups of the embedded store on a schedule; none unless `every` is set."""

    # In seconds.
    every: int | None = setting(
        None, duration(SHORTEST_BACKUP_INTERVAL, LONGEST_BACKUP_INTERVAL), "how often a backup is made, such as 24h"
    )
    keep: int = setting(7, whole_number(1, MOST_BACKUPS), "how many of these backups are kept")
    to: Path | None = setting(None, Path, "the folder that they are put in; one of its own, on another disk")

    def completed(self) -> "BackupSettings":
        if self.every is not None and self.to is None:
            raise SettingsError("POTLUCK_BACKUP_EVERY is set; POTLUCK_BACKUP_TO must name a folder for the backups")
        return self


@dataclass(frozen=True, kw_only=True)
class IdentityProviderSettings:
    """The OpenID Connect provider that people may sign in with; none without an issuer."""

    # Exactly as the provider calls itself.
    issuer: str = setting("", issuer, "the OpenID Connect provider that people may sign in with")
    client_id: str = setting("", str, "the id that the provider gave to Potluck")
    # None for a public client.
    client_secret: str | None = setting(None, str, "the secret that goes with it", secret=True)
    name: str = setting("", line(LONGEST_PROVIDER_NAME), "its name on the button", default_text="the issuer's host")
    # None accepts no access token.
    audience: str | None = setting(None, str, "the audience of its access tokens that the API accepts")

    def completed(self) -> "IdentityProviderSettings":
        if not self.issuer:
            for name in ("client_id", "client_secret", "name", "audience"):
                if getattr(self, name):
                    raise SettingsError(f"POTLUCK_OIDC_{name.upper()} is set, and POTLUCK_OIDC_ISSUER is not")
            return self
        if not self.client_id:
            raise SettingsError("POTLUCK_OIDC_ISSUER needs POTLUCK_OIDC_CLIENT_ID, the id that the provider gave you")
        return replace(self, name=self.name or urlsplit(self.issuer).hostname or "")


@dataclass(frozen=True, kw_only=True)
class Settings:
    engine: EngineName = setting("embedded", one_of(EngineName), "where the data is: embedded or aws")
    data: Path = setting(Path("data"), Path, "the folder that holds everything")
    host: str = setting("127.0.0.1", str, "the address to listen on")
    port: int = setting(8000, whole_number(0, 65535), "the port to listen on")
    workers: int = setting(1, whole_number(1, MOST_WORKERS), "how many processes serve requests")
    # None derives it from each request.
    origin: str | None = setting(
        None, site_origin, "the address that people type", default_text="what each request says"
    )
    # Their forwarded headers are trusted for the client's address and the origin.
    proxies: tuple[Network, ...] = setting((), networks, "addresses or networks of trusted proxies")
    registration: Registration = setting(
        "open", one_of(Registration), "who may create an account: open, invited, approval or closed"
    )
    passwords: bool = setting(True, _on, "whether people can sign in with passwords: on or off", default_text="on")
    oidc: IdentityProviderSettings = group(IdentityProviderSettings())
    # None creates one in the data folder.
    secret: str | None = setting(
        None,
        at_least(SHORTEST_SECRET),
        "the key that protects votes, codes, cursors and cookies",
        default_text="generated at first start; required with aws",
        secret=True,
    )
    # In bytes. Anonymous callers are refused once half of it is used, everyone once all of it is.
    store_budget: int = setting(
        10 * UNITS["GB"], size(SMALLEST_BUDGET), "how large the embedded store may become", default_text="10GB"
    )
    backup: BackupSettings = group(BackupSettings())
    log: Logged = setting("problems", one_of(Logged), "what is logged: problems or requests")
    metrics: tuple[str, int] | None = setting(
        None, port_or_address(LOOPBACK), "the port, or address and port, of the metrics for Prometheus"
    )
    # None leaves the region and the endpoint to the AWS SDK's own configuration.
    region: str | None = setting(None, str, "the AWS region", default_text="the AWS SDK's own")
    endpoint: str | None = setting(
        None, web_address, "another endpoint that speaks the DynamoDB protocol", default_text="the region's"
    )
    table_prefix: str = setting("", str, "goes in front of every table name")
    # It may have a password in it.
    fanout: str | None = setting(
        None,
        redis_address,
        "a Redis or Valkey server that passes changes on between processes, for more than two with aws",
        secret=True,
    )
    # One process at a time does it here; elsewhere means functions on AWS.
    background: Where = setting(
        "here", one_of(Where), "whether these processes do the background work: here or elsewhere"
    )
    # None is the engine's default. The longer, the fewer writes while the suite is idle.
    takeover: int | None = setting(
        None,
        whole_number(SHORTEST_TAKEOVER, LONGEST_TAKEOVER, "seconds"),
        "after how many seconds another process takes over the background work",
        default_text="{embedded}, with aws {aws}".format_map(TAKEOVER_SECONDS),
    )
    assistant: AssistantSettings = group(AssistantSettings())
    # None disables the lookup.
    open_library: str | None = setting(OPEN_LIBRARY, web_address_or_off, "where books are looked up, or off")
    # Films are looked up at TMDB if there is a key for it.
    tmdb_key: str | None = setting(None, str, "the API key for looking up films", secret=True)
    accelerations: Accelerations = setting(
        BY_ENVIRONMENT,
        _plain,
        "1 turns off everything that only makes answers faster",
        variable="PLAIN",
        default_text="0",
        unset="0",
    )

    @property
    def indexes_lag_seconds(self) -> float:
        """How far indexes may be behind: usually milliseconds; this is ample even when it takes longer."""
        return 5.0 if self.engine == "aws" else 0.0

    @property
    def takeover_seconds(self) -> int:
        """How soon another process takes over the background work if the one doing it dies."""
        return self.takeover or TAKEOVER_SECONDS[self.engine]

    @property
    def file(self) -> Path:
        """The embedded engine's file."""
        return self.data / STORE_FILE

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """The settings from POTLUCK_* variables; an empty variable counts as not set, an unknown one is refused."""
        must_be_known(environment, (each.variable for each in cls.declared()))
        settings = read_settings(cls, environment)
        if settings.background == "elsewhere" and settings.engine == "embedded":
            raise SettingsError(
                "POTLUCK_BACKGROUND is 'elsewhere'; it must be 'here' with the embedded store, which no function "
                "on AWS can reach"
            )
        if settings.backup.every is not None and settings.engine != "embedded":
            raise SettingsError(
                "POTLUCK_BACKUP_EVERY is set; it must not be with Amazon DynamoDB: turn on point-in-time recovery of "
                "its tables instead"
            )
        if settings.oidc.issuer and settings.origin is None:
            raise SettingsError("POTLUCK_OIDC_ISSUER needs POTLUCK_ORIGIN, where the provider sends people back to")
        if not settings.passwords and not settings.oidc.issuer:
            raise SettingsError("POTLUCK_PASSWORDS is 'off'; without POTLUCK_OIDC_ISSUER, no one could sign in")
        if settings.fanout is not None and settings.engine == "embedded":
            raise SettingsError(
                "POTLUCK_FANOUT is set; it must be empty with the embedded store, whose processes need none"
            )
        return settings

    @classmethod
    def declared(cls) -> Iterator[Setting]:
        """Every setting there is, in the order of the README."""
        return settings_of(cls)
