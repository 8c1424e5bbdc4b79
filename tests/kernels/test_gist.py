"""GIST: against sums written out frequency by frequency, exact invariances, and gratings of known orientation."""

import cmath
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from provsel.kernels.gist import gist


def textbook(image, n_scales, n_orientations, n_cells):
    """GIST without Fourier library, batches or crops: dense matrices of complex exponentials on the mirrored image."""
    side = len(image)
    size = 2 * side
    frequencies = [k / size for k in (*range(side), *range(-side, 0))]
    waves = np.array(
        [cmath.exp(2j * math.pi * f * x) for x in range(size) for f in frequencies]
    ).reshape(size, size)

    def filtered(values, transfer):
        spectrum = (
            waves.conj().T
            @ np.pad(values, ((0, side), (0, side)), mode="symmetric")
            @ waves.conj()
        )
        table = np.array(
            [transfer(u, v) for v in frequencies for u in frequencies]
        ).reshape(size, size)
        return (waves @ (spectrum * table) @ waves.T / size**2)[:side, :side]

    def lowpass(u, v):
        return 0.5 ** ((u * u + v * v) / (4 / side) ** 2)

    logs = np.log(1 + np.asarray(image))
    high = logs - filtered(logs, lowpass).real
    flat = high / (0.2 + np.sqrt(np.abs(filtered(high * high, lowpass).real)))
    features = []
    for s in range(n_scales):
        for j in range(n_orientations):

            def band(u, v, centre=0.3 / 1.85**s, theta=math.pi * j / n_orientations):
                if u == v == 0:
                    return 0.0
                turn = math.remainder(math.atan2(v, u) - theta, 2 * math.pi)
                width = 2 * math.pi * (n_orientations / 8) ** 2
                return math.exp(
                    -3.5 * (math.hypot(u, v) / centre - 1) ** 2 - width * turn * turn
                )

            amplitude = np.abs(filtered(flat, band))
            for rows in np.split(amplitude, n_cells, axis=0):
                features += [cell.mean() for cell in np.split(rows, n_cells, axis=1)]
    return np.array(features)


@pytest.fixture
def images():
    return np.random.default_rng(5).integers(0, 256, size=(5, 16, 16), dtype=np.uint8)


@pytest.mark.parametrize(
    ("n_scales", "n_orientations", "n_cells"), [(4, 8, 4), (2, 3, 2), (1, 1, 1)]
)
def test_agrees_with_the_textbook(images, n_scales, n_orientations, n_cells):
    kinds = {"n_scales": n_scales, "n_orientations": n_orientations, "n_cells": n_cells}
    expected = [textbook(image.tolist(), **kinds) for image in images[:2]]
    got = gist(images[:2], **kinds)
    assert got.shape == (2, n_scales * n_orientations * n_cells**2)
    assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_batches_do_not_matter_and_images_do_not_mix(images):
    whole = gist(images)
    assert whole.shape == (5, 512)
    for batch in (1, 2, 5):
        assert_allclose(gist(images, batch=batch), whole, rtol=1e-12, atol=1e-14)
    assert_allclose(gist(images[[3]])[0], whole[3], rtol=1e-12, atol=1e-14)
    assert gist(images[:0]).shape == (0, 512)


def test_brightness_and_flatness(images):
    # 1 + grey level times a constant is a constant added to the logarithm, which the
    # prefilter takes out.
    brighter = 3.7 * (1.0 + images) - 1
    assert_allclose(gist(brighter), gist(images), rtol=1e-9, atol=1e-12)
    assert_allclose(gist(np.full((1, 16, 16), 77)), 0, atol=1e-12)
    assert gist(images).min() > 1e-4
