"""Why a command is not carried out."""

__all__ = ["Refused"]


class Refused(Exception):
    """The command cannot be carried out; the message says why."""
