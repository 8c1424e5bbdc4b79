"""Download and verify the files of data sets: `python data_scripts/fetch.py techtc`."""

import argparse
import logging
import sys

from provsel.datasets import DataIntegrityError, FetchError, MissingDataError, fetch, source_names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"one of: {', '.join(source_names())}")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for name in args.names:
        try:
            for path in fetch(name, progress=not args.quiet):
                print(path)
        except (ValueError, DataIntegrityError, FetchError, MissingDataError) as error:
            print(f"fetch.py: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
