"""`python -m provlab.cli` is the command `provsel`."""

import sys

from provlab.cli import main

if __name__ == "__main__":  # worker processes import it
    sys.exit(main())
