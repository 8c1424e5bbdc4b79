"""GIST: the energy of an image in bands of scale and orientation, averaged over the cells of a grid."""

import numpy as np
from scipy import fft

_FINEST = 0.3  # centre of the finest band, cycles per pixel
_RATIO = 1.85  # of neighbouring centres
# a band falls to 1 / e at the relative distance 1 / sqrt(3.5) from its centre
_RADIAL = 3.5
_CUTOFF = 4.0  # of the prefilter, cycles per image
_CONTRAST_FLOOR = 0.2  # prevents noise in flat regions from being amplified


def gist_filters(
    side: int, *, n_scales: int = 4, n_orientations: int = 8
) -> np.ndarray:
    """Return Gabor-like transfer functions for images of `side` by `side` pixels.

    At frequency (f, theta) in polar coordinates, filter (s, j) is

        exp(-3.5 (f / f_s - 1)^2) exp(-2 pi (n_orientations / 8)^2 (theta - pi j /
        n_orientations)^2),

    f_s = 0.3 / 1.85^s cycles per pixel, and zero at f = 0. Each filter lies on one side
    of the origin, so that the modulus of the response is the local amplitude. theta is
    the direction in which the grey level changes, from the direction of growing columns
    towards that of growing rows.

    Parameters
    ----------
    side : int
    n_scales, n_orientations : int, default=4 and 8

    Returns
    -------
    ndarray of shape (n_scales * n_orientations, 2 * side, 2 * side)
        On the frequencies of `scipy.fft.fftfreq(2 * side)`: filters act on the mirrored
        image.

    References
    ----------
    Oliva and Torralba (2001), Modeling the Shape of the Scene, IJCV 42(3); the
    constants are those in common use.
    """
    grid = fft.fftfreq(2 * side)
    radius = np.hypot(grid[:, None], grid[None, :])
    angle = np.arctan2(grid[:, None], grid[None, :])
    filters = []
    for scale in range(n_scales):
        band = np.exp(-_RADIAL * (radius / (_FINEST / _RATIO**scale) - 1) ** 2)
        band[0, 0] = 0
        for j in range(n_orientations):
            turn = np.mod(angle - np.pi * j / n_orientations + np.pi, 2 * np.pi) - np.pi
            filters.append(
                band * np.exp(-2 * np.pi * (n_orientations / 8) ** 2 * turn**2)
            )
    return np.array(filters)


def gist(
    images: np.ndarray,
    *,
    n_scales: int = 4,
    n_orientations: int = 8,
    n_cells: int = 4,
    batch: int = 32,
) -> np.ndarray:
    """Return GIST features of square grey-level images.

    The logarithm of 1 + grey level is divided by its local contrast after its low
    frequencies are removed; then each filter's amplitude is averaged over the cells.
    The image is continued by its mirror images, so it has no border.

    Parameters
    ----------
    images : ndarray of shape (n, side, side)
        Non-negative grey levels, customarily from 0 to 255; `side` is a multiple of
        `n_cells`.
    n_scales, n_orientations, n_cells : int, default=4, 8 and 4
        Bands, and cells along each side.
    batch : int, default=32
        Images per batch: memory grows with it, and the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, n_scales * n_orientations * n_cells**2), float64
        Scale slowest, finest first; then orientation, row and column of the cell.

    References
    ----------
    Oliva and Torralba (2001), Modeling the Shape of the Scene, IJCV 42(3).
    """
    n, side, _ = images.shape
    filters = gist_filters(side, n_scales=n_scales, n_orientations=n_orientations)
    cell = side // n_cells
    energies = np.empty((n, len(filters), n_cells, n_cells))
    for start in range(0, n, batch):
        spectrum = fft.fft2(_mirrored(_normalised(images[start : start + batch])))
        for k, transfer in enumerate(filters):
            # Rows and columns of the mirror images are dropped as soon as they are no
            # longer needed.
            response = fft.ifft(spectrum * transfer, axis=1, overwrite_x=True)[:, :side]
            response = fft.ifft(response, axis=2)[:, :, :side]
            amplitude = np.sqrt(response.real**2 + response.imag**2)
            cells = amplitude.reshape(-1, n_cells, cell, n_cells, cell)
            energies[start : start + batch, k] = cells.mean(axis=(2, 4))
    return energies.reshape(n, len(filters) * n_cells**2)


def _normalised(images: np.ndarray) -> np.ndarray:
    """Return log images without low frequencies, divided by their local standard deviation."""
    side = images.shape[1]
    grid = fft.fftfreq(2 * side)
    # Half the amplitude passes at the cutoff.
    radius2 = grid[:, None] ** 2 + grid[None, : side + 1] ** 2
    lowpass = np.exp(-np.log(2) * radius2 * (side / _CUTOFF) ** 2)

    def smooth(values: np.ndarray) -> np.ndarray:
        mirrored = _mirrored(values)
        return fft.irfft2(fft.rfft2(mirrored) * lowpass, s=mirrored.shape[1:])[
            :, :side, :side
        ]

    logs = np.log1p(images.astype(np.float64))
    high = logs - smooth(logs)
    # A mean of squares can come out as -1e-17.
    return high / (_CONTRAST_FLOOR + np.sqrt(np.maximum(smooth(high**2), 0)))


def _mirrored(images: np.ndarray) -> np.ndarray:
    """Return images of twice the side length whose periodic continuation has no seam."""
    wide = np.concatenate([images, images[:, :, ::-1]], axis=2)
    return np.concatenate([wide, wide[:, ::-1]], axis=1)
