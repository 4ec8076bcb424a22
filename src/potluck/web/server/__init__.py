"""Listening and serving: one process or a pool of workers, and what one connection may take."""
