"""`python -m potluck` is the `potluck` command."""

import sys

from potluck.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
