"""How a setting is declared and read from its variable. `potluck.settings` is the list of them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, ClassVar, Protocol, TypeVar, get_args
from urllib.parse import urlsplit

PREFIX = "POTLUCK_"
UNITS = {"MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000}
SIZE = re.compile(r"(?P<number>[0-9]{1,6}) ?(?P<unit>MB|GB|TB)", re.ASCII | re.IGNORECASE)
SECONDS_IN = {"m": 60, "h": 3600, "d": 86_400}
DURATION = re.compile(r"(?P<number>[0-9]{1,6}) ?(?P<unit>[mhd])", re.ASCII)
DEFAULT_PORTS = {"http": 80, "https": 443}
# A name, an IPv4 address or an IPv6 address in brackets, with an optional port.
HOST = re.compile(r"(?P<name>[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII)

Network = IPv4Network | IPv6Network
T = TypeVar("T")
Parse = Callable[[str], T]


class SettingsError(ValueError):
    """A wrong setting; the message names the variable, and the values it may have or the name that was meant."""


class InvalidSetting(ValueError):
    """A text that a setting cannot be; the message is the rule that it breaks: "it must be a number from 1 to 64"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its variable, how its text is read, and what it is for."""

    variable: str
    parse: Parse[Any]
    help: str
    """What it decides, for `potluck --help`; at most a line."""
    default: str
    """What applies while it is not set, in words."""
    shown: bool
    """Whether messages may repeat its value: not that of a secret."""
    unset: str = ""
    """The text that is read while it is not set, where the default of the class is another."""

    def read(self, environment: Mapping[str, str]) -> Any:
        """The parsed value, or KeyError if the variable is not set; an empty one counts as not set."""
        text = environment.get(self.variable) or self.unset
        if not text:
            raise KeyError(self.variable)
        try:
            return self.parse(text)
        except InvalidSetting as rule:
            value = f" is {text!r}" if self.shown else " is invalid"
            raise SettingsError(f"{self.variable}{value}; {rule}") from None


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a field says about its setting; the rest follows from the field."""

    parse: Parse[Any]
    help: str
    default: str | None
    variable: str | None
    unset: str


DECLARED = "setting"
GROUP = "group"


def setting(
    default: Any,
    parse: Parse[Any],
    help: str,
    *,
    default_text: str | None = None,
    secret: bool = False,
    variable: str | None = None,
    unset: str = "",
) -> Any:
    """A field that is read from a variable named like it: `port` from POTLUCK_PORT, or from the named `variable`.

    `default_text` is the default in words, where its own text does not say it. The value of a `secret` is in no message
    and in no repr, which may end up in a log.
    """
    declared = _Declared(parse, help, default_text, variable, unset)
    return field(default=default, repr=not secret, metadata={DECLARED: declared})


class Group(Protocol):
    """Settings that belong together, as a frozen dataclass of their own."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def completed(self) -> Any:
        """These settings as they apply, once all are read; SettingsError if they do not fit together."""
        ...


def group(settings: Group) -> Any:
    """A field with settings of its own: `url` of the field `assistant` is read from POTLUCK_ASSISTANT_URL."""
    return field(default=settings, metadata={GROUP: type(settings)})


def settings_of(cls: type[Any], prefix: str = PREFIX) -> Iterator[Setting]:
    """Every setting that the class declares, in its order, with those of its groups."""
    for each in fields(cls):
        if GROUP in each.metadata:
            yield from settings_of(each.metadata[GROUP], f"{prefix}{each.name.upper()}_")
        else:
            yield _setting(each, prefix)


def read_settings(cls: type[T], environment: Mapping[str, str], prefix: str = PREFIX) -> T:
    """The class with what the environment sets; the rest has its defaults."""
    values: dict[str, Any] = {}
    for each in fields(cls):  # type: ignore[arg-type]
        if GROUP in each.metadata:
            part = read_settings(each.metadata[GROUP], environment, f"{prefix}{each.name.upper()}_")
            values[each.name] = part.completed()
        else:
            try:
                values[each.name] = _setting(each, prefix).read(environment)
            except KeyError:
                continue
    return cls(**values)


def must_be_known(environment: Mapping[str, str], known: Iterator[str]) -> None:
    """SettingsError for a variable that looks like a setting and is none, with the name that was probably meant.

    An empty one counts as not set, like an empty setting.
    """
    names = {variable.removeprefix(PREFIX) for variable in known}
    problems = []
    for variable in sorted(environment):
        name = variable.upper().removeprefix(PREFIX)
        if not variable.upper().startswith(PREFIX) or (variable == f"{PREFIX}{name}" and name in names):
            continue
        if environment[variable]:
            # Imported here, because settings without a mistake need no search.
            from difflib import get_close_matches

            nearest = get_close_matches(name, sorted(names), n=1)
            hint = f"Did you mean {PREFIX}{nearest[0]}?" if nearest else "`potluck --help` lists the settings."
            problems.append(f"{variable} is not a setting. {hint}")
    if problems:
        raise SettingsError(" ".join(problems))


def _setting(declared_by: Any, prefix: str) -> Setting:
    declared: _Declared = declared_by.metadata[DECLARED]
    default = declared.default
    if default is None:
        default = str(declared_by.default) if declared_by.default not in (None, "", ()) else "none"
    return Setting(
        variable=f"{PREFIX}{declared.variable}" if declared.variable else f"{prefix}{declared_by.name.upper()}",
        parse=declared.parse,
        help=declared.help,
        default=default,
        shown=declared_by.repr,
        unset=declared.unset,
    )


# --- what the text of a setting can be --------------------------------------------------------------------------------


def one_of(choices: Any) -> Parse[Any]:
    """One of the words of a Literal."""
    words = get_args(choices)
    *others, last = (repr(word) for word in words)

    def parse(text: str) -> str:
        if text not in words:
            raise InvalidSetting(f"it may be {', '.join(others)} or {last}")
        return text

    return parse


def whole_number(least: int, most: int, of: str = "") -> Parse[int]:
    """A number in ASCII digits; `of` is its unit: "seconds"."""

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else -1
        if not least <= number <= most:
            raise InvalidSetting(f"it must be a number {f'of {of} ' if of else ''}from {least} to {most}")
        return number

    return parse


def port_or_address(default_host: str) -> Parse[tuple[str, int]]:
    """A port on the default host, or a host and a port."""

    def parse(text: str) -> tuple[str, int]:
        host, colon, port = text.rpartition(":")
        if (colon and not host) or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
            raise InvalidSetting("it must be a port from 0 to 65535, or an address and a port such as 10.0.0.5:9100")
        return host.removeprefix("[").removesuffix("]") or default_host, int(port)

    return parse


def size(least: int) -> Parse[int]:
    """A size in bytes, written with its unit."""

    def parse(text: str) -> int:
        match = SIZE.fullmatch(text)
        number = 0 if match is None else int(match["number"]) * UNITS[match["unit"].upper()]
        if number < least:
            raise InvalidSetting(f"it must be a size from {least // UNITS['MB']}MB on, such as 500MB, 10GB or 1TB")
        return number

    return parse


def duration(shortest: int, longest: int) -> Parse[int]:
    """A time in seconds, written as whole minutes, hours or days; the bounds are in seconds."""

    def parse(text: str) -> int:
        match = DURATION.fullmatch(text)
        seconds = 0 if match is None else int(match["number"]) * SECONDS_IN[match["unit"]]
        if not shortest <= seconds <= longest:
            raise InvalidSetting(
                f"it must be a time from {shortest // SECONDS_IN['m']}m to {longest // SECONDS_IN['d']}d, such as 30m, "
                "24h or 7d"
            )
        return seconds

    return parse


def web_address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise InvalidSetting("it must begin with http:// or https://")
    return text.rstrip("/")


def redis_address(text: str) -> str:
    if not text.startswith(("redis://", "rediss://", "unix://")):
        raise InvalidSetting("it must begin with redis://, rediss:// or unix://")
    return text


def web_address_or_off(text: str) -> str | None:
    if text == "off":
        return None
    try:
        return web_address(text)
    except InvalidSetting as rule:
        raise InvalidSetting(f"{rule}, or be off") from None


def origin_named(scheme: str, host: str) -> str | None:
    """An origin as a browser writes it: lower case, without the default port; None if the host is invalid."""
    match = HOST.fullmatch(host.lower())
    if match is None or scheme not in DEFAULT_PORTS:
        return None
    port = int(match["port"] or DEFAULT_PORTS[scheme])
    return f"{scheme}://{match['name']}" + ("" if port == DEFAULT_PORTS[scheme] else f":{port}")


def site_origin(text: str) -> str:
    scheme, _, host = text.removesuffix("/").partition("://")
    named = origin_named(scheme.lower(), host)
    if named is None:
        raise InvalidSetting("it must be an address such as https://potluck.example, without a path")
    return named


def issuer(text: str) -> str:
    """The issuer of an OpenID Connect provider, unchanged: it is compared to the letter."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    is_safe = text.startswith("https://") or (text.startswith("http://") and _is_nearby(host))
    if not host or port == 0 or not is_safe or set(text) & set("?#@ \\"):
        raise InvalidSetting(
            "it must be an address such as https://auth.example.org, without a query; http:// is accepted for this "
            "machine and for addresses in a private network"
        )
    return text


def _is_nearby(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_private and not address.is_unspecified


def networks(text: str) -> tuple[Network, ...]:
    try:
        # A single address is a network of one. Host bits after the mask are an error: we would have to guess.
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise InvalidSetting(
            "it must be addresses or networks separated by commas, such as 127.0.0.1, 10.0.0.0/8"
        ) from None


def line(most: int) -> Parse[str]:
    """A text on one line."""

    def parse(text: str) -> str:
        trimmed = text.strip()
        if not 1 <= len(trimmed) <= most or not trimmed.isprintable():
            raise InvalidSetting(f"it must have 1 to {most} printable characters")
        return trimmed

    return parse


def at_least(characters: int) -> Parse[str]:
    """A text of some length."""

    def parse(text: str) -> str:
        if len(text) < characters:
            raise InvalidSetting(f"it must have at least {characters} characters")
        return text

    return parse
