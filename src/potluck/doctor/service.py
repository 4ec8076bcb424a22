"""Amazon DynamoDB: whether it answers, whether the clock is right by its own, the tables, and the secret."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from potluck.aws.verification import differences
from potluck.doctor.diagnoses import Diagnosis, note, ok, problem
from potluck.doctor.store import about_admins, about_secret
from potluck.engines import DynamoError, offered_by
from potluck.moving.unfinished_imports import UNFINISHED, UnfinishedImport
from potluck.people.entities import accounts
from potluck.settings import Settings
from potluck.store import Store
from potluck.table.errors import Unavailable
from potluck.table.tables import Table
from potluck.web.server.reasons import reason_of
from potluck.web.suite_secret import load_secret, made_by

ANSWER_SECONDS = 5.0
# AWS refuses a signature that is older or newer than five minutes.
AGREES_SECONDS, SKEWED_SECONDS, REFUSED_SECONDS = 5.0, 30.0, 300.0


async def about_service(settings: Settings, store: Store, tables: Sequence[Table]) -> list[Diagnosis]:
    """What the service says; what it refuses is a diagnosis too."""
    endpoint = offered_by(store.engine, "endpoint")
    diagnoses = [await asyncio.to_thread(_clock, endpoint)]
    try:
        different = await differences(store.engine, tables)
        is_importing = await UnfinishedImport(store).mark() is not None
    except (DynamoError, Unavailable) as error:
        diagnoses.append(problem("dynamodb", reason_of(error) or str(error)))
        return diagnoses
    diagnoses.append(ok("dynamodb", f"{endpoint} answers"))
    if is_importing:
        return [*diagnoses, problem("tables", UNFINISHED)]
    diagnoses += [problem("tables", f"{settings.table_prefix}{difference}") for difference in different]
    if not different:
        diagnoses.append(ok("tables", f"{len(tables)} tables match their design"))
    if settings.secret is None:
        diagnoses.append(problem("secret", "POTLUCK_SECRET is not set: every machine needs the same one"))
    if accounts.name not in {difference.table for difference in different}:
        try:
            if settings.secret is not None:
                diagnoses += about_secret(settings, await made_by(store, load_secret(settings)))
            diagnoses += await about_admins(store)
        except (DynamoError, Unavailable) as error:
            diagnoses.append(problem("permissions", reason_of(error) or str(error)))
    diagnoses.append(
        note("backups", "turn on point-in-time recovery of the tables, and keep POTLUCK_SECRET elsewhere too")
    )
    return diagnoses


def _clock(endpoint: str) -> Diagnosis:
    """Whether the clock of this machine is that of the service, by the date in its answer."""
    try:
        date = _date_at(endpoint)
    except (OSError, HTTPException, ValueError, TypeError):
        return note("clock", f"{endpoint} does not say what time it is")
    by = (datetime.now(UTC) - date).total_seconds()
    if abs(by) < AGREES_SECONDS:
        return ok("clock", f"it agrees with that of {endpoint}")
    text = f"it is {abs(by):.0f} seconds {'ahead of' if by > 0 else 'behind'} that of {endpoint}"
    fix = "set it, and keep it right with a time service such as chrony"
    if abs(by) >= REFUSED_SECONDS:
        return problem("clock", f"{text}, so signatures are refused: {fix}")
    if abs(by) >= SKEWED_SECONDS:
        return problem("clock", f"{text}; from {REFUSED_SECONDS:.0f} on, signatures are refused: {fix}")
    return ok("clock", text)


def _date_at(endpoint: str) -> datetime:
    # A request without credentials: any answer has the date.
    try:
        with urlopen(Request(endpoint, method="GET"), timeout=ANSWER_SECONDS) as answer:
            return parsedate_to_datetime(answer.headers["date"])
    except HTTPError as refused:
        return parsedate_to_datetime(refused.headers["date"])
