"""Download, make and verify the files of data sets: `python data_scripts/fetch.py techtc`, as `provsel fetch` does."""

import sys

from provlab.cli import main

if __name__ == "__main__":
    sys.exit(main(["fetch", *sys.argv[1:]]))
