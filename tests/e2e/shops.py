"""The suite with Shopping alone, in a process of its own: `python -m tests.e2e.shops FOLDER [WORKERS [PORT]]`.

And a family for browsers, made without typing, where the typing is not what is looked at.
"""

import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, expect

from potluck.apps.shopping.app import ShoppingApp
from potluck.settings import Settings
from potluck.web.http.application import Application
from tests.e2e.browsing import Visit
from tests.e2e.coming_in import FROM_HERE, join
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy

__all__ = ["Home", "Shop", "call", "family_of", "one_more"]


class Shop(Toy):
    module = "tests.e2e.shops"


def call(visit: Visit, method: str, path: str, body: Any = None, status: int | None = None) -> Any:
    """Ask the JSON door as this window's person, signal or not: it does not go through the window."""
    answer = visit.page.request.fetch(visit.address + "/api/v1" + path, method=method, data=body, headers=FROM_HERE)
    assert answer.ok if status is None else answer.status == status, (answer.status, answer.text())
    return answer.json() if answer.body() else None


@dataclass
class Home:
    """A family as somebody's window made it."""

    visit: Visit
    family_id: str
    stores: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def page(self) -> str:
        return f"/shopping/{self.family_id}"

    @property
    def api(self) -> str:
        return f"/families/{self.family_id}"

    def store(self, name: str) -> None:
        self.stores[name] = call(self.visit, "POST", f"{self.api}/stores", {"name": name})["storeId"]

    def thing(self, name: str, store: str = "", by: Visit | None = None, **values: Any) -> str:
        """Something to buy."""
        body = {"name": name, "storeId": self.stores.get(store), **values}
        made = call(by or self.visit, "POST", f"{self.api}/shopping-list", body)
        self.ids[name] = made["shoppingItemId"]
        return self.ids[name]

    def at_home(self, name: str, quantity: int, threshold: int, **values: Any) -> str:
        body = {"name": name, "quantity": quantity, "threshold": threshold, **values}
        return str(call(self.visit, "POST", f"{self.api}/inventory", body)["itemId"])

    def listed(self) -> dict[str, dict[str, Any]]:
        """What the server has on the list, by name; each name is there once."""
        items = call(self.visit, "GET", f"{self.api}/shopping-list?limit=100")["items"]
        assert len({each["name"] for each in items}) == len(items), items
        return {each["name"]: each for each in items}

    def change(self, name: str, by: Visit | None = None, **values: Any) -> None:
        """Somebody else changes it."""
        version = self.listed()[name]["version"]
        call(by or self.visit, "PATCH", f"{self.api}/shopping-list/{self.ids[name]}", {**values, "version": version})

    def take_off(self, name: str) -> None:
        call(self.visit, "DELETE", f"{self.api}/shopping-list/{self.ids[name]}")

    def let_in(self, visit: Visit, role: str = "member") -> None:
        token = call(self.visit, "POST", f"{self.api}/invitations", {"role": role})["token"]
        call(visit, "POST", "/invitations/accept", {"token": token})


def family_of(visit: Visit, name: str = "Lund Street 7", person: str = "Mara Okafor") -> Home:
    """A new person in this window, with a family of their own."""
    join(visit, person)
    return Home(visit, call(visit, "POST", "/families", {"name": name})["familyId"])


def one_more(visit: Visit, name: str) -> Locator:
    """Touch a quantity on the list, which shows its buttons; the one that raises it."""
    quantity = visit.page.get_by_role("group", name=f"Quantity of {name}")
    more = quantity.get_by_role("button", name="One more")
    expect(more).to_have_css("opacity", "0")
    quantity.click()
    return more


def with_shopping(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings, ShoppingApp)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.shops:with_shopping"))
