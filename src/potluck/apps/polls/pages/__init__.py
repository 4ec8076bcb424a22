"""The polls' HTML door: make one, share it, vote, see what came of it, look after it.

Handlers are given `polls`, the services, besides what every handler is given.
"""

from litestar.types import ControllerRouterHandler

from potluck.apps.polls.pages import files, making, managing, outcomes, sharing, voting

__all__ = ["PAGES"]

PAGES: list[ControllerRouterHandler] = [
    *files.PAGES,
    *making.PAGES,
    *sharing.PAGES,
    *voting.PAGES,
    *outcomes.PAGES,
    *managing.PAGES,
]
