"""What a release or a captions file says about its images and captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from annotate.language.english import words
from annotate.language.languages import is_english
from annotate.report.corpus import Corpus

Indices = npt.NDArray[np.int64]
# The words of `annotate.language.english`, which campaign rules count, too. The tokenisers of
# `evaluate` also split short forms such as "isn't".
TOKENISER = "words"


def of_english_alone(name: str, language: str) -> dict[str, str]:
    """What a dataset in this language (a BCP 47 tag) lacks, with the reasons."""
    if is_english(language):
        return {}
    return {
        "names": f"The captions of {name} are not in English, as the names of classes are.",
        "function_words": "Function words, which are left out of content words, are known for "
        "English only.",
    }


@dataclass(frozen=True, slots=True)
class ReportImage:
    """An image; None stands for what the dataset does not say.

    `classes` has the class name of each box, without parts, so a name may be repeated. An image
    whose captions are hidden has none here.
    """

    number: int
    classes: tuple[str, ...] | None = None
    subset: str = ""
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class ReportCaption:
    """A caption of the image at the index `image`; `is_extra` marks the human baseline."""

    image: int
    text: str
    worker: int | None = None
    is_primed: bool | None = None
    is_extra: bool = False


@dataclass(frozen=True)
class Dataset:
    """Images in the order of the file, and captions in the order of their images.

    `lacks` gives the reason why the dataset does not say something: under `boxes`, `names` of
    classes in the captions' language, `function_words` of the language, `workers`, `priming` and
    `subsets`. `domains` has the domain of each class by the table `domain_table`.
    """

    name: str
    images: Sequence[ReportImage]
    captions: Sequence[ReportCaption]
    lacks: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    domain_table: str = ""

    @cached_property
    def corpus(self) -> Corpus:
        """The words of all captions."""
        return Corpus.of(words(caption.text) for caption in self.captions)

    @cached_property
    def image_of(self) -> Indices:
        """The index of each caption's image."""
        return np.array([caption.image for caption in self.captions], dtype=np.int64)

    @cached_property
    def references(self) -> Indices:
        """The indices of the captions that are not the human baseline."""
        return self._where([not caption.is_extra for caption in self.captions])

    @cached_property
    def extras(self) -> Indices:
        """The indices of the human baseline's captions."""
        return self._where([caption.is_extra for caption in self.captions])

    @property
    def without_captions(self) -> str:
        """Why there are no captions, if there are none."""
        if any(image.is_hidden for image in self.images):
            return f"All captions of {self.name} are hidden."
        return f"{self.name} has no captions."

    def captions_by_image(self, captions: Indices) -> list[Indices]:
        """For each image the indices among these captions, in their order."""
        order = captions[np.argsort(self.image_of[captions], kind="stable")]
        ends = np.searchsorted(self.image_of[order], np.arange(1, len(self.images)))
        return np.split(order, ends) if self.images else []

    @staticmethod
    def _where(marks: Sequence[bool]) -> Indices:
        return np.flatnonzero(np.array(marks, dtype=bool)).astype(np.int64)
