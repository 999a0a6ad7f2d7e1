"""The text on the methods of a release."""

import pytest

from annotate.kinds import KINDS
from annotate.models import Release
from qualcontrol.queries.methods import methods_text
from qualcontrol.review import judging
from tests.factories import NOON, CampaignFactory, WorkerFactory
from tests.qualcontrol.work import write


@pytest.mark.django_db
def test_the_methods_name_the_shares_as_they_were_set():
    campaign = CampaignFactory(
        config={"review": {"share": 0.0025, "certainty": 0.995, "limit": 0.025}}
    )

    text = methods_text(Release(name="r1", created_at=NOON), [campaign])

    assert "a random 0.25% of the answers" in text
    assert "with a probability of 99.5%, above 2.5% bad answers" in text


@pytest.mark.django_db
def test_the_methods_have_no_words_of_a_reviewer():
    campaign = CampaignFactory()
    vague = KINDS["caption"].faults["vague"]
    for reason in (vague, f"{vague} (like all of W-3F9A01C2)", "copied from W-3F9A01C2"):
        (response,) = write(campaign, WorkerFactory())
        judging.judge(response=response, verdict="BAD", reason=reason, reviewer=None, at=NOON)

    text = methods_text(Release(name="r1", created_at=NOON), [campaign])

    assert f"- Reasons: {vague} 2, another reason 1." in text
    assert "W-3F9A01C2" not in text


@pytest.mark.django_db
def test_the_methods_do_not_depend_on_the_order_in_which_a_database_reads_rows():
    campaign, faults = CampaignFactory(), KINDS["caption"].faults.values()
    for reason in sorted(faults, reverse=True):
        (response,) = write(campaign, WorkerFactory())
        judging.judge(response=response, verdict="BAD", reason=reason, reviewer=None, at=NOON)

    text = methods_text(Release(name="r1", created_at=NOON), [campaign])

    assert f"- Reasons: {', '.join(f'{reason} 1' for reason in sorted(faults))}." in text
