"""Names for the arrays that travel between modules."""

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# A dense array or a CSR matrix, float32 or float64.
Matrix = Any
