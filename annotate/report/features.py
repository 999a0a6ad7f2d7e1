"""Read a features file: a NumPy array with a row of numbers for each image."""

from pathlib import Path

import numpy as np

from annotate.reading.files import MalformedFile
from annotate.report.dataset import Dataset
from annotate.report.sections.base import Matrix


def read_features(path: Path, dataset: Dataset) -> Matrix:
    """The features of the dataset's images in their order; raises MalformedFile."""
    try:
        # Pickled objects could run any code, so they are refused.
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", "") or "it is not a NumPy array of numbers (.npy)"
        raise MalformedFile(path, reason) from error
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        raise MalformedFile(path, "features are one array of numbers with a row for each image")
    if len(found) != len(dataset.images):
        raise MalformedFile(
            path,
            f"it has {len(found):,} rows, but {dataset.name} has {len(dataset.images):,} images. "
            "Each image needs a row, in the order of the captions file's images.",
        )
    return _checked(path, found.astype(np.float64))


def _checked(path: Path, found: Matrix) -> Matrix:
    if not found.shape[1]:
        raise MalformedFile(path, "the rows are empty")
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if wrong.size:
        raise MalformedFile(path, f"row {wrong[0]} has a value that is not finite (NaN, infinity)")
    zero = np.flatnonzero(~found.any(axis=1))
    if zero.size:
        raise MalformedFile(path, f"row {zero[0]} has zeros only, so it has no direction")
    return found
