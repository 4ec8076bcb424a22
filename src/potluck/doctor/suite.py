"""The suite that runs on this data folder, if one does: whether it is ready, and the states that it is in."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from typing import Any

from potluck.doctor.diagnoses import Diagnosis, note, ok, problem
from potluck.settings import Settings
from potluck.states import STATES
from potluck.web.server.serve import port_in_use

ANSWER_SECONDS = 5.0
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


def about_suite(settings: Settings) -> Iterator[Diagnosis]:
    """What it says about itself."""
    port = port_in_use(settings)
    if port is None:
        yield note("suite", f"it does not run on {settings.data}")
        return
    host = EVERYWHERE.get(settings.host, settings.host)
    try:
        report = _read(host, port)
        if report["status"] == "ready":
            yield ok("suite", f"it runs at port {port}, and is ready")
        else:
            yield problem("suite", f"it runs at port {port}, and is {report['status']}: its log says why")
        states = report["states"]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        yield problem("suite", f"it does not answer at {host}, port {port}: if it was killed, start it again")
        return
    for state in STATES:
        if state.name in states:
            yield problem(state.name, f"{state.meaning}: docs/operating.md says what to do")


def _read(host: str, port: int) -> dict[str, Any]:
    # Not by urllib: the machine's proxy does not serve it.
    connection = HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/readyz")
        report: dict[str, Any] = json.loads(connection.getresponse().read())
        return report
    finally:
        connection.close()
