"""Chores: homes that people share, and what has to be done in them. docs/apps.md explains it."""
