"""`python -m provlab.cli` is the command `provsel`."""

import sys

if __name__ == "__main__":  # worker processes import it
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder, which Python puts first for -m, and which `provsel` does not have
    from provlab.cli import main

    sys.exit(main())
