"""Published ways to collect captions, as defaults of the campaign file.

docs/presets.md says of each part whether its source states it or whether it is ours. The texts are
translated when a file is read.
"""

from collections.abc import Mapping
from typing import Any

from annotate.campaign_file import fair_hit
from corpora.language.text import CaptionRules, gettext_noop

WITHOUT_KEYWORDS = {"share": 0.0, "by": "none"}
ONE_EACH = {"references": 1, "baselines": 0, "priming": WITHOUT_KEYWORDS}

# What several presets ask of a long description.
SURROUNDINGS = gettext_noop(
    "Say how many there are of each thing, and where the things are: left, right, in front, behind."
)
LOOKS = gettext_noop("Describe colours, shapes, sizes, materials and light.")
WRITING = gettext_noop("Write down the words that can be read in the image.")
ONLY_SEEN = gettext_noop("Describe what can be seen. Do not guess what cannot.")


def _long(target: int, least: int, most: int) -> dict[str, Any]:
    """A paragraph of about `target` words, with the time and reward that suit it."""
    captions = {
        "style": "paragraph",
        "target_words": target,
        "least_words": least,
        "most_words": most,
    }
    hit = fair_hit(CaptionRules.model_validate(captions))
    return {**ONE_EACH, "captions": captions, "hit": hit}


PRESETS: Mapping[str, Mapping[str, Any]] = {
    # Agrawal et al. 2019, section 3.1.
    "nocaps": {"references": 10, "baselines": 1, "priming": {"share": 1.0}},
    # Chen et al. 2015, section 2: no priming, 5 or 40 references and one more for comparison.
    "coco-c5": {"references": 5, "baselines": 1, "priming": {"share": 0.0}},
    "coco-c40": {"references": 40, "baselines": 1, "priming": {"share": 0.0}},
    # Gurari et al. 2020, section 3: 5 captions of each image, of which some are the canned sentence
    # that is the first reason. Simons et al. 2020: remarks. As the quorum is 5, each image gets 5.
    "vizwiz": {
        "references": 5,
        "baselines": 0,
        "priming": WITHOUT_KEYWORDS,
        "captions": {
            "cannot_describe": (
                gettext_noop("Quality issues are too severe to recognize visual content."),
                gettext_noop("The image is too blurred."),
                gettext_noop("The image is too dark or too bright."),
                gettext_noop("The image shows nothing but a surface or a finger."),
            ),
            "cannot_describe_quorum": 5,
            "remarks": True,
        },
        # Of the task's published page, which allows names: they are on packages and labels.
        "instructions": {
            "rules": (
                gettext_noop(
                    "Say what a blind person would want to know about the image, as if you "
                    "described it to a friend on the phone."
                ),
                gettext_noop(
                    "If words in the image are important, say in short what they say. Do not just "
                    "copy them all."
                ),
                gettext_noop("Do not describe how blurred, dark or tilted the photograph is."),
                gettext_noop("Do not write what a person in the image might say."),
                gettext_noop(
                    "Do not describe what may have happened before or what may happen next."
                ),
            ),
            # Without the built-in example that has a name.
            "bad": (
                {
                    "text": gettext_noop("There is a street."),
                    "why": gettext_noop("says almost nothing"),
                },
                {
                    "text": gettext_noop("Bicycle, person, car, tree, street light, wheel, road."),
                    "why": gettext_noop("a list, not a sentence"),
                },
            ),
        },
    },
    # Thapliyal et al. 2022; pay and time are ours.
    "xm3600": {
        "references": 2,
        "baselines": 0,
        "priming": WITHOUT_KEYWORDS,
        "hit": {"images": 15, "minutes": 60, "reward": "2.25"},
    },
    # Onoe et al. 2024: 136 words on average; what descriptions are about.
    "docci": _long(target=136, least=40, most=400)
    | {
        "instructions": {
            "intro": gettext_noop(
                "Somebody who reads your description should be able to pick this image out of "
                "many similar ones."
            ),
            "rules": (
                gettext_noop("Begin with the main thing and what it does; then describe the rest."),
                SURROUNDINGS,
                LOOKS,
                WRITING,
                gettext_noop("Use the exact name of a thing or place if you know it."),
                gettext_noop(
                    "Say from where the image is taken: from above, close up, through glass."
                ),
                ONLY_SEEN,
            ),
        },
    },
    # Urbanek et al. 2024: 750 words; three trial images before the rest.
    "dci": _long(target=750, least=300, most=1_500)
    | {
        "review": {"first": 3, "trial": 3},
        "instructions": {
            "intro": gettext_noop(
                "This is a long task. Please write the whole description in one go, with as much "
                "detail as you can see."
            ),
            "rules": (
                gettext_noop("Begin with two or three sentences about the whole image."),
                gettext_noop("Then describe the image part by part, and each part in detail."),
                gettext_noop("Do not repeat what you have described already."),
                SURROUNDINGS,
                LOOKS,
                gettext_noop(
                    "Write down a few words that can be read; of a long text, say what it is."
                ),
                gettext_noop("Name a part that is too blurred or small to describe, and go on."),
            ),
        },
    },
    # WCAG 2.2, success criterion 1.1.1, and the W3C's tutorial on images; the limits are ours.
    "alt-text": {
        **ONE_EACH,
        "captions": {
            "label": gettext_noop("Write the text that replaces the image"),
            "least_words": 3,
            "most_words": 30,
            "most_characters": 200,
            "show_context": True,
        },
        "hit": {
            "title": gettext_noop("Write alternative text for an image"),
            "description": gettext_noop(
                "Look at an image and write a short text for people who cannot see it."
            ),
        },
        "instructions": {
            "intro": gettext_noop(
                "A screen reader reads your text aloud to people who cannot see the image."
            ),
            "rules": (
                gettext_noop("Say what the image tells its readers in the place where it stands."),
                gettext_noop("Do not repeat what the text around the image says already."),
                gettext_noop("Do not begin with “Image of” or “Photograph of”."),
                gettext_noop("If the image contains words that matter, write them down."),
                ONLY_SEEN,
            ),
        },
    },
}
IN_WORDS: Mapping[str, str] = {
    "nocaps": "nocaps: 10 references and a human baseline, with object names",
    "coco-c5": "COCO c5: 5 references and a human baseline, without object names",
    "coco-c40": "COCO c40: 40 references and a human baseline, without object names",
    "vizwiz": "VizWiz-Captions: 5 captions, or reasons why the image cannot be described",
    "xm3600": "Crossmodal-3600: 15 images, whose given captions (a caption set) are rated first",
    "docci": "DOCCI: one detailed paragraph of about 136 words",
    "dci": "DCI: one very detailed description of about 750 words, after three trial images",
    "alt-text": "Alternative text (WCAG): one short text, with the image's context",
}
