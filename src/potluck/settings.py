"""The operator's settings, read from POTLUCK_* environment variables; every default works."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Literal, cast, get_args

from potluck.acceleration import BY_ENVIRONMENT, Accelerations, chosen_by

EngineName = Literal["embedded", "aws"]
Registration = Literal["open", "invited", "closed"]
Logged = Literal["problems", "requests"]
AssistantName = Literal["embedded", "openai", "anthropic"]
Plain = Literal["0", "1"]
Network = IPv4Network | IPv6Network

STORE_FILE = "potluck.db"
OPEN_LIBRARY = "https://openlibrary.org"
SHORTEST_SECRET = 32
# More than any machine can use; a typo should not start thousands.
MOST_WORKERS = 64
UNITS = {"MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000}
# On Amazon DynamoDB every check and every renewal of a lease costs money.
TAKEOVER_SECONDS = {"embedded": 5, "aws": 20}
SHORTEST_TAKEOVER, LONGEST_TAKEOVER = 5, 600
DEFAULT_PORTS = {"http": 80, "https": 443}
SIZE = re.compile(r"(?P<number>[0-9]{1,6}) ?(?P<unit>MB|GB|TB)", re.ASCII | re.IGNORECASE)
# A smaller budget would not last a few people's changes for an hour.
SMALLEST_BUDGET = 10 * UNITS["MB"]
# A name, an IPv4 address or an IPv6 address in brackets, with an optional port.
HOST = re.compile(r"(?P<name>[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII)


ASSISTANT_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
LONGEST_ASSISTANT_TIMEOUT = 120


class SettingsError(ValueError):
    """An invalid setting; the message names the variable and the values it may have."""


@dataclass(frozen=True, kw_only=True)
class AssistantSettings:
    """The journal's assistant; `embedded` needs nothing else, and sends nothing anywhere."""

    provider: AssistantName = "embedded"
    # The base URL, without the path of a call such as /chat/completions.
    url: str = ""
    model: str = ""
    # Never in a repr, which may end up in a log.
    key: str | None = field(default=None, repr=False)
    timeout: float = 20.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    engine: EngineName = "embedded"
    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    # Where people reach the suite, such as https://potluck.example; None derives it from each request.
    origin: str | None = None
    # The proxies whose forwarded headers are trusted for the client's address and the origin; none by default.
    proxies: tuple[Network, ...] = ()
    registration: Registration = "open"
    # None creates one in the data folder. Never in a repr, which may end up in a log.
    secret: str | None = field(default=None, repr=False)
    log: Logged = "problems"
    # In bytes. Anonymous callers are refused once half of it is used, everyone once all of it is.
    store_budget: int = 10 * UNITS["GB"]
    # None leaves the region and the endpoint to the AWS SDK's own configuration.
    region: str | None = None
    endpoint: str | None = None
    table_prefix: str = ""
    # In seconds; None is the engine's default. The longer, the fewer writes while the suite is idle.
    takeover: int | None = None
    # Where books are looked up; None disables the lookup.
    open_library: str | None = OPEN_LIBRARY
    # Films are looked up at TMDB if there is a key for it. Never in a repr either.
    tmdb_key: str | None = field(default=None, repr=False)
    assistant: AssistantSettings = AssistantSettings()
    accelerations: Accelerations = BY_ENVIRONMENT

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
        """The settings from POTLUCK_* variables; an empty variable counts as not set."""

        def setting(name: str, default: str) -> str:
            return environment.get(f"POTLUCK_{name}") or default

        def one_of(name: str, default: str, choices: object) -> str:
            value = setting(name, default)
            if value not in get_args(choices):
                *others, last = (repr(choice) for choice in get_args(choices))
                raise SettingsError(f"POTLUCK_{name} is {value!r}; it may be {', '.join(others)} or {last}")
            return value

        return cls(
            engine=cast(EngineName, one_of("ENGINE", cls.engine, EngineName)),
            data=Path(setting("DATA", str(cls.data))),
            host=setting("HOST", cls.host),
            port=_port(setting("PORT", str(cls.port))),
            workers=_workers(setting("WORKERS", str(cls.workers))),
            origin=_origin(setting("ORIGIN", "")),
            proxies=_proxies(setting("PROXIES", "")),
            registration=cast(Registration, one_of("REGISTRATION", cls.registration, Registration)),
            secret=_secret(setting("SECRET", "")),
            log=cast(Logged, one_of("LOG", cls.log, Logged)),
            store_budget=_bytes(setting("STORE_BUDGET", "")) or cls.store_budget,
            region=setting("REGION", "") or None,
            endpoint=_endpoint(setting("ENDPOINT", "")),
            table_prefix=setting("TABLE_PREFIX", cls.table_prefix),
            takeover=_takeover(setting("TAKEOVER", "")),
            open_library=_provider(setting("OPEN_LIBRARY", OPEN_LIBRARY)),
            tmdb_key=setting("TMDB_KEY", "") or None,
            accelerations=chosen_by(one_of("PLAIN", "0", Plain)),
            assistant=_assistant(cast(AssistantName, one_of("ASSISTANT", "embedded", AssistantName)), setting),
        )


def _number(text: str) -> int | None:
    """The number written in at most nine ASCII digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _port(text: str) -> int:
    number = _number(text)
    if number is None or number > 65535:
        raise SettingsError(f"POTLUCK_PORT is {text!r}; it must be a number from 0 to 65535")
    return number


def _workers(text: str) -> int:
    number = _number(text)
    if number is None or not 1 <= number <= MOST_WORKERS:
        raise SettingsError(f"POTLUCK_WORKERS is {text!r}; it must be a number from 1 to {MOST_WORKERS}")
    return number


def _takeover(text: str) -> int | None:
    if not text:
        return None
    number = _number(text)
    if number is None or not SHORTEST_TAKEOVER <= number <= LONGEST_TAKEOVER:
        raise SettingsError(
            f"POTLUCK_TAKEOVER is {text!r}; it must be a number of seconds from {SHORTEST_TAKEOVER} to "
            f"{LONGEST_TAKEOVER}"
        )
    return number


def _bytes(text: str) -> int | None:
    if not text:
        return None
    match = SIZE.fullmatch(text)
    size = 0 if match is None else int(match["number"]) * UNITS[match["unit"].upper()]
    if size < SMALLEST_BUDGET:
        raise SettingsError(
            f"POTLUCK_STORE_BUDGET is {text!r}; it must be a size from 10MB on, such as 500MB, 10GB or 1TB"
        )
    return size


def origin_named(scheme: str, host: str) -> str | None:
    """An origin as a browser writes it: lower case, without the default port; None if the host is invalid."""
    match = HOST.fullmatch(host.lower())
    if match is None or scheme not in DEFAULT_PORTS:
        return None
    port = int(match["port"] or DEFAULT_PORTS[scheme])
    return f"{scheme}://{match['name']}" + ("" if port == DEFAULT_PORTS[scheme] else f":{port}")


def _origin(text: str) -> str | None:
    if not text:
        return None
    scheme, _, host = text.removesuffix("/").partition("://")
    origin = origin_named(scheme.lower(), host)
    if origin is None:
        raise SettingsError(
            f"POTLUCK_ORIGIN is {text!r}; it must be an address such as https://potluck.example, without a path"
        )
    return origin


def _proxies(text: str) -> tuple[Network, ...]:
    try:
        # A single address is a network of one. Host bits after the mask are an error: we would have to guess.
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise SettingsError(
            f"POTLUCK_PROXIES is {text!r}; it must be addresses or networks separated by commas, "
            "such as 127.0.0.1, 10.0.0.0/8"
        ) from None


def _secret(text: str) -> str | None:
    # Unlike other settings, the value is never repeated in a message.
    if text and len(text) < SHORTEST_SECRET:
        raise SettingsError(f"POTLUCK_SECRET is too short; it must have at least {SHORTEST_SECRET} characters")
    return text or None


def _provider(text: str) -> str | None:
    if text == "off":
        return None
    if not text.startswith(("http://", "https://")):
        raise SettingsError(f"POTLUCK_OPEN_LIBRARY is {text!r}; it must begin with http:// or https://, or be off")
    return text.removesuffix("/")


def _assistant(provider: AssistantName, setting: Callable[[str, str], str]) -> AssistantSettings:
    if provider == "embedded":
        return AssistantSettings()
    url = setting("ASSISTANT_URL", ASSISTANT_URLS[provider]).rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise SettingsError("POTLUCK_ASSISTANT_URL must begin with http:// or https://")
    model = setting("ASSISTANT_MODEL", "")
    if not model:
        raise SettingsError(f"POTLUCK_ASSISTANT is {provider!r}; POTLUCK_ASSISTANT_MODEL must say which model")
    timeout = _number(setting("ASSISTANT_TIMEOUT", str(int(AssistantSettings.timeout))))
    if timeout is None or not 1 <= timeout <= LONGEST_ASSISTANT_TIMEOUT:
        raise SettingsError(
            f"POTLUCK_ASSISTANT_TIMEOUT must be a number of seconds from 1 to {LONGEST_ASSISTANT_TIMEOUT}"
        )
    return AssistantSettings(
        provider=provider, url=url, model=model, key=setting("ASSISTANT_KEY", "") or None, timeout=float(timeout)
    )


def _endpoint(text: str) -> str | None:
    if text and not text.startswith(("http://", "https://")):
        raise SettingsError(f"POTLUCK_ENDPOINT is {text!r}; it must begin with http:// or https://")
    return text or None
