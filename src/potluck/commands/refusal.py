"""Why a command is not carried out."""


class CommandError(Exception):
    """The command cannot be carried out; the message says why."""
