"""Run the command `provsel` as `python -m provlab.cli`."""

import sys

if __name__ == "__main__":  # worker processes import it
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder, which -m puts first on the path
    from provlab.cli import main

    sys.exit(main())
