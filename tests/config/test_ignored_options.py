"""A command refuses an option that it would ignore beside the others."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.factories import CampaignFactory


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("select_images --split s --name n --all --random", "--random goes with --count"),
        ("select_images --split s --name n --ids a.txt --random", "--random goes with --count"),
        ("select_images --split s --name n --all --ignore Dog", "--ignore goes with --count"),
        ("select_images --split s --name n --ids a.txt --sample 9", "--sample goes with --count"),
        ("select_images --split s --name n --count 1 --random --ignore Dog", "--ignore goes with"),
        ("select_images --split s --name n --count 1 --random --sample 9", "--sample goes with"),
        ("import_images s3://bucket/folder --urls --split s", "--urls is for a file"),
        ("import_openimages --images i.csv --split s --require-images", "goes with --boxes"),
        ("import_captions pilot {jsonl} --caption-column text", "name columns of tables"),
        ("export_captions r --out o --by ada", "--by goes with --hidden"),
        ("keywords --hidden --split s", "--hidden goes with neither"),
        ("keywords --hidden --image i", "--hidden goes with neither"),
        ("compositional_split c.json --evaluation e.json --validation-share 0.3", "--evaluation"),
        ("challenge c --publish --criterion true", "--criterion goes with --people"),
        ("work_jobs --clock", "--clock goes with --watch"),
        ("serve --site-only --own", "--own"),
        ("serve --site-only --demo d", "--demo"),
        ("serve --site-only --marketplace-port 9", "--marketplace-port"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(line, message, tmp_path):
    CampaignFactory(slug="pilot")
    jsonl = tmp_path / "captions.jsonl"
    jsonl.write_text('{"image": "i", "worker": "w", "caption": "a dog"}\n')

    with pytest.raises(CommandError, match=message):
        call_command(*line.format(jsonl=jsonl).split())


def test_a_port_of_a_marketplace_that_is_not_served_is_refused(settings, tmp_path):
    settings.MTURK_ENDPOINT, settings.DATA_DIR = "sandbox", tmp_path

    with pytest.raises(CommandError, match="--marketplace-port"):
        call_command("serve", "--own", "--marketplace-port", "9")
