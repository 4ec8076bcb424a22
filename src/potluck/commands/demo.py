"""`potluck demo`: made-up people who know each other, with data in every app."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.running import run_or_refuse
from potluck.commands.stores import origin_of
from potluck.people.authentication import Principal
from potluck.people.email_normal_form import normal_email
from potluck.people.entities import EmailAddress
from potluck.people.errors import EmailTaken
from potluck.people.passwords import Passwords
from potluck.people.secrets import SYSTEM_RANDOM
from potluck.settings import Settings
from potluck.store import Clock, Store
from potluck.suite import APPS, opened, system_clock
from potluck.web.app import App, AppMaker, Demo, WorthALook
from potluck.web.direct_calls import Direct
from potluck.web.people import PeopleApp
from potluck.web.people.accounts import AccountMade, NewAccount, register
from potluck.web.people.sessions import sign_out

# A reserved domain, so that none of these is a real address.
DOMAIN = "potluck.example"
NAMES = {
    "mara": "Mara Okafor",
    "leo": "Leo Lindqvist",
    "noor": "Noor Haddad",
    "renzo": "Renzo Alves",
    "ida": "Ida Berg",
}
HERE_FOR_DAYS = 20

# No letters that look like digits: passwords are read off one screen and typed on another.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PASSWORD_LENGTH = 16  # 5 bits each: 80 bits
PASSWORD_GROUP = 4


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    add_data(parser, settings)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Fill the store with made-up people and their data, and print how to sign in as them."""
    settings = replace(settings, data=chosen.data)
    try:
        demo = run_or_refuse(filled(settings, _tell))
    except AlreadyHere as problem:
        raise CommandError(
            f"{problem.email} is here already. To start over, choose another folder (--data); for a new password, run "
            f"`potluck reset-password {problem.email}`"
        ) from None
    print("\n".join(demo.lines(origin_of(settings))))
    _tell("The passwords are not shown again. If Potluck is not running yet, start it: potluck serve")
    return 0


def _tell(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


class AlreadyHere(Exception):
    """One of the demo's people already has an account: the demo has been run before."""

    def __init__(self, email: str) -> None:
        super().__init__(f"{email} has an account already")
        self.email = email


@dataclass(frozen=True, slots=True)
class DemoSignIn:
    """How to sign in as one person."""

    name: str
    email: str
    password: str


@dataclass(frozen=True, slots=True)
class FilledDemo:
    """What was created; the passwords and keys are stored nowhere else."""

    sign_ins: Sequence[DemoSignIn]
    worth_a_look: Sequence[WorthALook]

    def lines(self, origin: str) -> list[str]:
        """As lines for a terminal."""
        names = max(len(person.name) for person in self.sign_ins)
        emails = max(len(person.email) for person in self.sign_ins)
        lines = [f"Sign in at {origin}/sign-in", ""]
        lines += [f"  {person.name:<{names}}  {person.email:<{emails}}  {person.password}" for person in self.sign_ins]
        for place in self.worth_a_look:
            lines += ["", place.name, f"  {origin}{place.address}", *([f"  {place.note}"] if place.note else [])]
        return lines


class Calendar:
    """A clock that can be set back, so that not everything happens today."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ago = timedelta()

    def __call__(self) -> datetime:
        return self._clock() - self._ago

    def ago(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> None:
        self._ago = timedelta(days=days, hours=hours, minutes=minutes)


async def filled(
    settings: Settings,
    tell: Callable[[str], None],
    apps: Sequence[AppMaker] = APPS,
    *,
    clock: Clock = system_clock,
    passwords: Passwords | None = None,
    random: Random = SYSTEM_RANDOM,
) -> FilledDemo:
    """Fill the configured store, also while the suite is running on it; AlreadyHere if it was filled before."""
    calendar = Calendar(clock)
    # Anyone who can run the command needs no invitation.
    open_to_all = replace(settings, registration="open")
    async with opened(open_to_all, apps, clock=calendar, passwords=passwords) as (core, opened_apps):
        await _refuse_a_second(core.store)
        tell(f"Inviting {len(NAMES)} people")
        calendar.ago(days=HERE_FOR_DAYS)
        sign_ins = {first: DemoSignIn(name, _email(first), _new_password(random)) for first, name in NAMES.items()}
        people = Direct(core, PeopleApp.subjects)
        callers = {first: await _came(people, person) for first, person in sign_ins.items()}
        worth_a_look: list[WorthALook] = []
        for app in opened_apps:
            if type(app).demo is not App.demo:
                tell(f"Filling {app.title or app.name}")
                demo = Demo(app, callers, calendar.ago)
                await app.demo(demo)
                worth_a_look += demo.worth_a_look
        calendar.ago()
        for caller in callers.values():
            # The tokens of these sessions were never handed out.
            await people.do(sign_out, caller)
    return FilledDemo([*sign_ins.values()], worth_a_look)


async def _refuse_a_second(store: Store) -> None:
    """Checked before anything is written. Of two concurrent demos, only one can register the first person's address."""
    addresses = await store.get_many([EmailAddress.by_folded(normal_email(_email(first))) for first in NAMES])
    for first, address in zip(NAMES, addresses, strict=True):
        if address is not None:
            raise AlreadyHere(_email(first))


async def _came(people: Direct, sign_in: DemoSignIn) -> Principal:
    """Register the person and sign them in."""
    new = NewAccount(email=sign_in.email, password=sign_in.password, name=sign_in.name)
    try:
        made: AccountMade = await people.do(register, None, new)
    except EmailTaken:
        raise AlreadyHere(sign_in.email) from None
    assert made.token is not None
    caller = await people.runner.core.people.authenticator.authenticate(made.token)
    assert caller is not None
    return caller


def _email(first: str) -> str:
    return f"{first}@{DOMAIN}"


def _new_password(random: Random) -> str:
    """A random password, never one shipped with the code: only the command's output shows it."""
    signs = "".join(ALPHABET[byte % len(ALPHABET)] for byte in random.randbytes(PASSWORD_LENGTH))
    return "-".join(signs[start : start + PASSWORD_GROUP] for start in range(0, PASSWORD_LENGTH, PASSWORD_GROUP))
