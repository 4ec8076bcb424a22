"""`python -m potluck` is the `potluck` command."""

import sys

from potluck.cli import main

if __name__ == "__main__":
    sys.exit(main())
