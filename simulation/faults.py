"""Judge answers by the true contents of the image."""

from collections.abc import Callable, Collection, Sequence

from annotate.errors import DomainError
from annotate.kinds.correspondence.answers import as_value, box_value
from annotate.kinds.correspondence.rules import rules_of
from annotate.kinds.correspondence.shown_boxes import numbered_boxes
from annotate.models import Campaign, Response
from simulation.workers.hands import class_names
from simulation.workers.linking import NOTHING, true_meanings
from simulation.workers.sights import sights_of
from simulation.workers.words import called, mentions, plural
from simulation.workers.writers import Sight

# Words that precede a noun in a sentence. Lists of keywords do not contain them.
DETERMINERS = {"a", "an", "the", "some", "two", "three", "four", "five", "several", "many", "of"}
# Returns the reason why a response is bad, in a reviewer's words, or an empty text.
Judge = Callable[[Response], str]


def judge_of(campaign: Campaign) -> Judge:
    """A judge for the campaign's task type; raises DomainError if there is none."""
    if campaign.kind not in JUDGES:
        raise DomainError(f"Nothing is simulated for tasks of the kind {campaign.kind}.")
    return JUDGES[campaign.kind](campaign)


class _CaptionJudge:
    def __init__(self, campaign: Campaign) -> None:
        self.sights = sights_of(campaign)
        self.known = {name for sight in self.sights.values() for name in sight.things}

    def __call__(self, response: Response) -> str:
        return fault(
            response.caption.text,
            sight=self.sights[response.task.image_id],
            known=self.known,
            others=_other_captions(response),
        )


def _other_captions(response: Response) -> list[str]:
    return list(
        Response.objects.filter(worker=response.worker_id, caption__isnull=False)
        .exclude(pk=response.pk)
        .values_list("caption__text", flat=True)
    )


def fault(text: str, *, sight: Sight, known: Collection[str], others: Sequence[str]) -> str:
    """The reason why a caption is bad, in a reviewer's words; empty if it is good.

    `known` are all class names of the campaign, `others` the worker's other captions.
    """
    if text in others:
        return "the same sentence as on another image"
    named = mentions(text, set(known))
    if _is_list(text, named):
        return "a list of keywords, not a sentence"
    if named - set(sight.things):
        return "describes another image"
    if sight.things and not named:
        return "says nothing about what is in the image"
    return ""


def _is_list(text: str, named: Collection[str]) -> bool:
    """Whether most of the named objects in a text have no article."""
    words = text.lower().replace(",", " ").replace(".", " ").split()
    starts = {form.split()[0] for name in named for form in (called(name), plural(called(name)))}
    places = [index for index, word in enumerate(words) if word in starts]
    bare = [i for i in places if not set(words[max(0, i - 2) : i]) & DETERMINERS]
    return len(bare) * 2 > len(places)


class _LinkJudge:
    """Finds an answer bad if most of a caption's words have the wrong boxes."""

    def __init__(self, campaign: Campaign) -> None:
        self.known = class_names(campaign)
        self.parts = rules_of(campaign.config).parts

    def __call__(self, response: Response) -> str:
        image, caption = response.task.image_id, response.task.subject
        assert caption is not None, "a task of this kind is about a caption"
        boxes = numbered_boxes([image], parts=self.parts)[image]
        names = {box_value(box.key): box.name for box in boxes}
        truth = true_meanings(caption.text, names, self.known)
        said = {int(n): set(as_value(x).split()) for n, x in response.correspondence.words.items()}
        wrong = sum(said.get(number, NOTHING) != meaning for number, meaning in truth.items())
        return "most words refer to something else" if 2 * wrong > len(truth) else ""


JUDGES: dict[str, Callable[[Campaign], Judge]] = {
    "caption": _CaptionJudge,
    "correspondence": _LinkJudge,
}
