"""Shopping's HTML door: the list that is its home, what is at home, where things are bought, and who is in the family.

Handlers are given `shopping`, the services, besides what every handler is given.
"""

PAGES: list = []

__all__ = ["PAGES"]
