"""Raw intensities of genes, as linear models and kernels like them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def logarithms(X: NDArray[Any]) -> NDArray[Any]:
    """Return logarithms of raw intensities, for linear models and kernels; trees take no notice.

    Parameters
    ----------
    X : ndarray
        Intensities. What is below 1 is noise.

    Returns
    -------
    ndarray
        log2(max(x, 1)).

    Examples
    --------
    >>> import numpy as np
    >>> from lab.data import logarithms
    >>> logarithms(np.array([-20.0, 1.0, 1024.0]))
    array([ 0.,  0., 10.])
    """
    found: NDArray[Any] = np.log2(np.maximum(X, 1.0))
    return found
