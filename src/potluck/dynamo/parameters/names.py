"""The plain parameters that operations of every sort share."""

from potluck.dynamo.parameters.scalars import Text, Truth

__all__ = ["NAME", "NAMED_TABLE", "TABLE_ARN", "TABLE_NAME", "TEXT", "TRUTH"]

NAME_PATTERN = "[a-zA-Z0-9_.-]+"
TABLE_ARN = r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]+:table/[a-zA-Z0-9_.-]{3,255}"

TEXT = Text()
TRUTH = Truth()
NAME = Text(pattern=NAME_PATTERN, least=3, most=255)
TABLE_NAME = Text(pattern=NAME_PATTERN, least=3, most=255, otherwise=TABLE_ARN)
# Where a wrong length is told before anything else, only the pattern is left to tell; the quick look is the same.
NAMED_TABLE = Text(pattern=NAME_PATTERN, otherwise=TABLE_ARN)
NAMED_TABLE.fits = TABLE_NAME.fits
