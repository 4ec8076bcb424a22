"""Shopping's JSON door, whole: decode, call, render; each subject has a file of its own."""

from potluck.apps.shopping import family_routes, inventory_routes, list_routes

__all__ = ["ROUTES"]

ROUTES = [*family_routes.ROUTES, *inventory_routes.ROUTES, *list_routes.ROUTES]
