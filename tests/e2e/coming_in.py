"""People for browsers: signed up or in without typing, where the typing is not what is looked at."""

from itertools import count

from tests.e2e.browsing import Visit

__all__ = ["PASSWORD", "join", "newcomer", "send", "sign_in"]

PASSWORD = "correct horse"
NUMBERS = count(1)
# What the browser would say by itself of a form on one of our pages.
FROM_HERE = {"sec-fetch-site": "same-origin"}


def newcomer() -> str:
    """The address of somebody who was never here."""
    return f"mara{next(NUMBERS)}@example.org"


def join(visit: Visit, name: str = "Mara Okafor") -> str:
    """Make an account, as this window's; its address."""
    email = newcomer()
    send(visit, "/sign-up", name=name, email=email, password=PASSWORD)
    return email


def sign_in(visit: Visit, email: str, password: str = PASSWORD) -> None:
    send(visit, "/sign-in", email=email, password=password)


def send(visit: Visit, path: str, **fields: str) -> str:
    """Send a form as this window's person; where it leads."""
    answer = visit.page.request.post(visit.address + path, form=fields, headers=FROM_HERE, max_redirects=0)
    assert answer.status == 303, answer.text()
    return answer.headers["location"]
