"""Task page time with 1,000 and with 100,000 tasks, through the site's WSGI application and a real
database. The time to open a page (which claims a task) and to post its answer must not grow.
"""

import argparse
import itertools
from time import perf_counter
from urllib.parse import urlencode

from bs4 import BeautifulSoup
from django.conf import settings
from django.test import Client

from benchmarks.campaigns import AT, add_captions, make_campaign, make_workers
from benchmarks.harness import Report, add_growth, both_sizes, in_turn, main, settle_down
from hits.models import Hit, HitStatus, HitType

ROUNDS, PAGES = 10, 8
NAME = "pages"

_turns = itertools.count(1)


def measure(_options: argparse.Namespace) -> Report:
    report = Report()
    with both_sizes(_set_the_scene) as databases:
        in_turn(list(databases), lambda _: _open_and_post()[0], rounds=1)
        posts: dict[str, list[float]] = {database: [] for database in databases}

        def visit(database: str) -> list[float]:
            opened, posted = _open_and_post()
            posts[database] += posted
            return opened

        opens = in_turn(list(databases), visit, rounds=ROUNDS)
    add_growth(report, "open", "open a task page", opens)
    add_growth(report, "post", "post its answer", posts)
    return report


def _set_the_scene(size: int) -> None:
    """A running campaign, in which every image has a caption, and its HIT type."""
    campaign = make_campaign(name=NAME, images=size)
    add_captions(campaign, make_workers(200), each=1)
    hit_type = HitType.objects.create(
        campaign=campaign, hit_type_id="TYPE", exclusion_type_id="EXCLUSION", created_at=AT
    )
    Hit.objects.bulk_create(
        Hit(
            campaign=campaign,
            hit_type=hit_type,
            token=f"token-{number}",
            hit_id=f"HIT{number}",
            status=HitStatus.OPEN,
            slots=9,
            available=9,
            reward="0.10",
            fee="0.02",
            planned_at=AT,
        )
        for number in range(size // 9)
    )
    settle_down()


def _open_and_post() -> tuple[list[float], list[float]]:
    """The seconds that some workers' pages take to open, and their answers to post."""
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    opened, posted = [], []
    for number in itertools.islice(_turns, PAGES):
        query = urlencode(
            {
                "assignmentId": f"ASSIGNMENT{number}",
                "hitId": f"HIT{number % 100}",
                "workerId": f"AWORKER{number}",
                "turkSubmitTo": settings.MARKETPLACE_URL,
            }
        )
        began = perf_counter()
        page = client.get(f"/task/{NAME}/?{query}")
        opened.append(perf_counter() - began)
        fields = _filled_in(page.content)
        began = perf_counter()
        answer = client.post(f"/task/{NAME}/", fields)
        posted.append(perf_counter() - began)
        assert b"data-forward" in answer.content, answer.content
    return opened, posted


def _filled_in(page: bytes) -> dict[str, str]:
    form = BeautifulSoup(page, "html.parser").select_one("form[data-task]")
    assert form is not None, page
    return {
        str(field["name"]): str(field.get("value", ""))
        or "Two children with red umbrellas wait beside an old stone bridge."
        for field in form.select("[name]")
    }


if __name__ == "__main__":
    main(measure, name="pages", description=__doc__)
