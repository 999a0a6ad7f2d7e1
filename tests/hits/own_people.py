"""Groups of own people at the marketplace."""

from annotate.models import Campaign
from hits.mturk import people

TEXTS: dict[str, str | bool] = {
    "name": "Seminar",
    "organizer": "Vision lab",
    "purpose": "We study captions.",
    "contact": "lab@university.example",
    "consent": "You may stop at any time.",
}


def link_of(campaign: Campaign, **texts: str | bool) -> str:
    made = people.make_group(campaign, {**TEXTS, "name": f"Group of {campaign}", **texts})
    assert made.link is not None
    return made.link
