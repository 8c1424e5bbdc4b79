"""`python -m provsel.cli` is the command `provsel`."""

import sys

from provsel.cli import main

sys.exit(main())
