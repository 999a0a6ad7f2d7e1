"""Releases that were made before authors, boxes and campaigns were recorded."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.kinds.caption.export import write_captions
from annotate.models import Release
from annotate.queries.release_domains import NotRecorded, domains_of_release
from annotate.selection.domains import preset
from annotate.services.releases import freeze
from tests.factories import NOON, BoxFactory, CampaignFactory, ResponseFactory, TaskFactory

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = [("annotate", "0013_priming_by_response")]


@pytest.fixture
def older(tmp_path):
    """A release from a database without the new columns, and its files as they were then."""
    campaign = CampaignFactory(config={"references": 1})
    image = BoxFactory(object_class__name="Dog", image__author="Ada").image
    task = TaskFactory(campaign=campaign, image=image, number=1)
    ResponseFactory.create_batch(2, task=task)
    made = freeze(campaign=campaign, name="older", seed=1, at=NOON)
    files = contents(made, tmp_path / "then")
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    executor.loader.build_graph()
    executor.migrate(latest)
    return Release.objects.get(), files


def contents(release, folder):
    return {path.name: path.read_bytes() for path in write_captions(release, folder)}


# One test, because the migrations back and forth take longer than all else in it.
def test_an_older_release_keeps_its_bytes_and_gets_no_facts_that_it_did_not_record(older, tmp_path):
    release, files = older

    assert contents(release, tmp_path / "now") == files

    image = release.images.get()
    assert (release.context, release.hidden) == (None, None)
    assert (image.details, image.is_hidden) == (None, False)

    assert domains_of_release(release) == {1: "in-domain"}
    with pytest.raises(NotRecorded, match="made before classes were recorded in releases"):
        domains_of_release(release, preset("nocaps-119"))
