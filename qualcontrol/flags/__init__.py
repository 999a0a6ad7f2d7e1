"""Flags: automatic warnings on responses. Plain Python, without the database.

A response's *lasting* flags come from its text, from how it was written, and from earlier captions.
Its *image* flags compare it with the other answers of its image, and are computed again when one of
these arrives or is discarded. The product and the benchmarks run the same functions with different
stores of earlier captions (`Neighbours`).
"""

from collections.abc import Sequence

from annotate.campaign_file import CampaignConfig
from qualcontrol.flags.behaviour import Conduct, behaviour_flags
from qualcontrol.flags.copies import Neighbour, Neighbours, copy_flags
from qualcontrol.flags.flag import BREAKS_RULES, Flag, codes
from qualcontrol.flags.image import agreement_flags, wording_flags
from qualcontrol.flags.writing import OF_WHOLE_TEXTS, Keywords, no_keywords, writing_flags


def lasting_flags(
    answer: Neighbour,
    config: CampaignConfig,
    neighbours: Neighbours,
    *,
    conduct: Conduct | None = None,
    keywords: Keywords = no_keywords,
    is_part: bool = False,
    examples: Sequence[str] = (),
    given: Sequence[str] = (),
) -> list[Flag]:
    """Return the lasting flags of an answer, and store it in `neighbours` for later look-ups.

    An answer without text only has flags from `conduct`. `is_part`: the text was added to one by
    somebody else, here and there. `examples` are the good ones in the instructions, and `given`
    captions of the image that the page showed.
    """
    flags = behaviour_flags(answer.text, conduct or Conduct(), config)
    if answer.text:
        written = writing_flags(answer.text, config, keywords)
        flags += [flag for flag in written if not (is_part and flag.code in OF_WHOLE_TEXTS)]
        flags += copy_flags(answer, config, neighbours, examples, given)
    return flags


def image_flags(
    means: Sequence[float], texts: Sequence[str | None], config: CampaignConfig
) -> list[list[Flag]]:
    """The image flags of each answer to one task. `means` are the answers' mean similarities to the
    others; a text is None for an answer without text."""
    apart = agreement_flags(means, config)
    written = iter(wording_flags([text for text in texts if text is not None], config))
    worded = [[] if text is None else next(written) for text in texts]
    return [[*unlike, *wording] for unlike, wording in zip(apart, worded, strict=True)]
