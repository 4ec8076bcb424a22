"""The basic parameters that all kinds of operations share."""

from potluck.dynamo.parameters.scalars import Text, Truth

NAME_PATTERN = "[a-zA-Z0-9_.-]+"
TABLE_ARN = r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]+:table/[a-zA-Z0-9_.-]{3,255}"

TEXT = Text()
TRUTH = Truth()
NAME = Text(pattern=NAME_PATTERN, least=3, most=255)
TABLE_NAME = Text(pattern=NAME_PATTERN, least=3, most=255, otherwise=TABLE_ARN)
# For operations that check the length first, only the pattern is left to report; the fast check is the same.
NAMED_TABLE = Text(pattern=NAME_PATTERN, otherwise=TABLE_ARN)
NAMED_TABLE.fits = TABLE_NAME.fits
