"""`python -m provlab.cli` is the command `provsel`."""

import sys

if __name__ == "__main__":  # worker processes import it
    if not sys.flags.safe_path:
        del sys.path[0]  # Python puts the working folder first for -m; `provsel` does not have it on its path
    from provlab.cli import main

    sys.exit(main())
