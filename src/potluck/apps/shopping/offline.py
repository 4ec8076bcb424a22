"""What Shopping opens with when there is no network: the list's page without data.

The list's own script stores each person's items, under their id, and shows them there.
"""

from typing import Any

from potluck.apps.shopping.cascade import APP
from potluck.apps.shopping.families import HOME, sections
from potluck.apps.shopping.shopping_list import TypedItem
from potluck.web import Form, Shell, _

PLACEHOLDER = f"{HOME}/FAMILY"


def _shell_context() -> dict[str, Any]:
    """The template values of the list's page for an empty family, without a signed-in person."""
    return {
        "app": APP,
        "here": _("Shopping"),
        "sections": sections(PLACEHOLDER, "list"),
        "me": None,
        "sign_in": "",
        "home": PLACEHOLDER,
        "form": Form.blank(TypedItem),
        "stores": [],
        "family": None,
        "families": [],
        "pending": 0,
        "groups": [],
        "purchased": [],
        "offered": [],
        "low": [],
        "running_low": [],
        "store": "",
        "shows_purchased": False,
        "new_id": "",
        "kept": "",
        "duplicate": None,
    }


shell = Shell("shopping/shell.html", _shell_context)
