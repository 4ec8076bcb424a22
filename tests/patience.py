"""How long a test waits for what must happen."""

__all__ = ["PATIENCE_SECONDS"]

PATIENCE_SECONDS = 60
"""A bound on what must happen at all, on a machine that has other things to do; no measure of how fast it is."""
