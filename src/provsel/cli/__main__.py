"""`python -m provsel.cli` is the command `provsel`."""

import sys

from provsel.cli import main

if __name__ == "__main__":  # worker processes import it
    sys.exit(main())
