"""A researcher's entries in the steps of *New campaign*, and the requests that send them."""

from bs4 import BeautifulSoup
from django.urls import reverse

# A campaign file with nothing but what every one needs.
BARE = {"name": "a", "selection": "b", "budget": 1}
ENTRIES = {
    "task": {"name": "street-scenes", "kind": "caption", "preset": ""},
    "images": {
        "selection": "streets",
        "references": "2",
        "baselines": "on",
        "priming__by": "none",
        "priming__share": "100",
        "seed": "0",
    },
    "instructions": {
        "hit__title": "Describe a street",
        "hit__description": "Write a sentence about a photograph of a street.",
        "hit__keywords": "caption, street",
        "language": "en",
        "captions__least_words": "6",
        "captions__style": "sentence",
        "captions__most_words": "40",
        "captions__cannot_describe_quorum": "3",
        "instructions__good": "Two cyclists wait at a red light.\n\nA bus turns left.",
        "instructions__bad": "A street. | says almost nothing",
    },
    "workers": {
        "workers__who": "own",
        "workers__countries": "",
        "workers__approved_hits": "0",
        "workers__approval_rate": "0",
    },
    "reward": {
        "hit__reward": "$0.15",
        "hit__images": "1",
        "hit__minutes": "20",
        "budget": "25",
        "hit__assignments": "9",
        "hit__lifetime_days": "7",
        "hit__auto_approval_days": "30",
    },
    "checks": {
        "review__first": "1",
        "review__share": "5 %",
        "review__trial": "0",
        "review__policy": "propose",
        "review__approve_after_hours": "24",
        "review__limit": "10",
        "review__reviewers": "1",
        "review__gold_every": "0",
        "review__discard": "all",
    },
}


def page_of(draft, step):
    return reverse("hits:new_step", args=[draft.pk, step])


def seen_on(answer):
    return BeautifulSoup(answer.content, "html.parser").find(id="seen")["value"]


def save(client, draft, step, **changes):
    """Post the step's entries as its page would."""
    seen = seen_on(client.get(page_of(draft, step)))
    return client.post(page_of(draft, step), {"seen": seen, **ENTRIES[step], **changes})


def typed(client, draft, step, **changes):
    """The site's answer while the step is typed."""
    seen = seen_on(client.get(page_of(draft, step)))
    fields = {"seen": seen, **ENTRIES[step], **changes}
    return client.post(page_of(draft, step), fields, headers={"HX-Request": "true"})


def field_of(page, name):
    return BeautifulSoup(page, "html.parser").find(id=f"id_{name}")["value"]
