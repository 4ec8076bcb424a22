"""Settings that contradict each other, or that are unwise where the suite is reached from elsewhere."""

import os
from collections.abc import Iterator
from ipaddress import ip_address

from potluck.doctor.diagnoses import Diagnosis, note, ok, problem
from potluck.settings import Settings

# A tail that reads the log itself is one of at most two readers of a shard.
READERS_OF_A_SHARD = 2


def about_settings(settings: Settings) -> Iterator[Diagnosis]:
    """The address that people reach, the proxies before it, and the number of processes."""
    yield from _origin(settings)
    yield from _proxies(settings)
    yield from _workers(settings)


def _origin(settings: Settings) -> Iterator[Diagnosis]:
    if settings.origin is not None:
        secure = settings.origin.startswith("https://")
        if secure or _is_here(settings):
            yield ok("origin", f"people reach it at {settings.origin}")
        else:
            yield note("origin", f"{settings.origin} is not encrypted: put Potluck behind HTTPS before others use it")
    elif _is_here(settings):
        yield ok("origin", "only this machine can reach it")
    else:
        yield note(
            "origin", "POTLUCK_ORIGIN is not set: set it to the address that people type, so that links are right"
        )


def _proxies(settings: Settings) -> Iterator[Diagnosis]:
    everyone = [str(network) for network in settings.proxies if network.prefixlen == 0]
    if everyone:
        yield problem(
            "proxies",
            f"POTLUCK_PROXIES has {everyone[0]}, so anyone can claim to be another client: name your proxy alone",
        )
    elif settings.proxies:
        yield ok("proxies", f"{', '.join(map(str, settings.proxies))} may say who the client is")
    elif settings.origin is not None and settings.origin.startswith("https://"):
        yield problem(
            "proxies",
            f"{settings.origin} needs a proxy for HTTPS, and POTLUCK_PROXIES is not set: all people count as one "
            "client and share its rate limits. Set it to the proxy's address, such as 127.0.0.1",
        )
    else:
        yield ok("proxies", "none: each connection is its own client")


def _workers(settings: Settings) -> Iterator[Diagnosis]:
    processors = os.cpu_count() or 1
    if settings.workers > processors:
        yield note(
            "workers",
            f"{settings.workers} workers share {processors} processors: more than one each takes memory for nothing",
        )
    elif settings.engine == "aws" and settings.workers > READERS_OF_A_SHARD and settings.fanout is None:
        yield problem(
            "workers",
            f"{settings.workers} processes read each stream, and Amazon allows {READERS_OF_A_SHARD}: set "
            "POTLUCK_FANOUT, so that one reads for all",
        )
    else:
        yield ok("workers", f"{settings.workers} on {processors} processors")


def _is_here(settings: Settings) -> bool:
    """Whether it listens for this machine alone."""
    try:
        return ip_address(settings.host).is_loopback
    except ValueError:
        return settings.host == "localhost"
