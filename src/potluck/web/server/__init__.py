"""Listening and serving: one process or a pool of workers, and the limits of one connection."""
