"""The polls' JSON door, whole: decode, call, render; each subject has a file of its own."""

from potluck.apps.polls import poll_routes, result_routes, vote_routes

__all__ = ["ROUTES"]

ROUTES = [*poll_routes.ROUTES, *vote_routes.ROUTES, *result_routes.ROUTES]
