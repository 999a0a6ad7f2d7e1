"""What a section of the report gets, and what it gives."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.errors import DomainError
from corpora.report.dataset import Dataset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Matrix = npt.NDArray[np.float64]
Numbers = Mapping[str, Any]


class NotMeasured(DomainError):
    """The section cannot be measured for these data; the message is the reason for readers."""


@dataclass(frozen=True)
class Inputs:
    """The dataset, and what it is compared with, if given.

    `results` has a system's caption by the number of its image; a row of the features belongs to
    the image at the same index.
    """

    dataset: Dataset
    against: Dataset | None = None
    results: Mapping[int, str] | None = None
    features: Matrix | None = None
    against_features: Matrix | None = None
    seed: int = 0

    def rng(self, purpose: str) -> np.random.Generator:
        """Random numbers that other sections do not change."""
        return np.random.default_rng([abs(self.seed), *purpose.encode()])

    @property
    def datasets(self) -> dict[str, Dataset]:
        """The dataset and the second one, by their keys in `report.json`."""
        second = {} if self.against is None else {"against": self.against}
        return {"dataset": self.dataset, **second}

    @property
    def names(self) -> dict[str, str]:
        return {key: dataset.name for key, dataset in self.datasets.items()}

    @property
    def systems(self) -> dict[str, dict[int, str]]:
        """The human baseline and the results, if given: a caption by the image's index."""
        dataset, systems = self.dataset, {}
        if dataset.extras.size:
            extras = (dataset.captions[place] for place in dataset.extras)
            systems["baseline"] = {caption.image: caption.text for caption in extras}
        if self.results:
            systems["results"] = {
                index: self.results[image.number]
                for index, image in enumerate(dataset.images)
                if image.number in self.results
            }
        return systems


class Table(NamedTuple):
    """A table of the page; the first cell of a row is its heading."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Plot(NamedTuple):
    """A figure with its file name, its title, and what a reader who cannot see it should know."""

    name: str
    title: str
    description: str
    figure: "Figure"


class Section(NamedTuple):
    """A section of the report. All but `measure` read nothing but the numbers.

    `measure` raises NotMeasured, or gives reasons for missing parts under `absent`.
    """

    key: str
    title: str
    measure: Callable[[Inputs], dict[str, Any]]
    plots: Callable[[Numbers], Iterator[Plot]]
    text: Callable[[Numbers], Iterator[str]]
    tables: Callable[[Numbers], Iterator[Table]] = lambda _numbers: iter(())


def summary(values: npt.NDArray[Any]) -> dict[str, float]:
    """Mean, standard deviation, median, least and most of at least one value."""
    return {
        "mean": float(np.mean(values)),
        "sd": float(np.std(values)),
        "median": float(np.median(values)),
        "least": float(np.min(values)),
        "most": float(np.max(values)),
    }
