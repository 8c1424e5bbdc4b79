"""What the tests between kinds of processors share."""

import pytest

import kinds


@pytest.fixture(scope="session")
def others():
    """The kinds that this machine can be besides itself: two, or "baseline" alone where it has no AVX-512."""
    kinds_here = kinds.other_kinds()
    if not kinds_here:
        pytest.skip(
            "needs x86-64 with AVX2, OpenBLAS and glibc, which can be told to do without"
        )
    return kinds_here
