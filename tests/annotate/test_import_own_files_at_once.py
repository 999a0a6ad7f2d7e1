"""Imports of the same folder at the same time."""

import pytest
from PIL import Image as Picture

from annotate.models import Image
from annotate.services import own_images
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

FILES = 12


def test_two_imports_of_a_folder_at_once_take_each_file_once(tmp_path, settings, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(own_images, "BATCH", 5)
    folder = tmp_path / "photographs"
    folder.mkdir()
    for number in range(FILES):
        Picture.new("RGB", (8, 8), (number * 20, 0, 0)).save(folder / f"{number}.png")

    def take_in(_: int) -> own_images.OwnCounts:
        files = own_images.own_files_below(folder)
        return own_images.import_own_files(files=files, split="mine")

    results = at_once(take_in, range(3))

    assert sum(counts.new for counts in results) == FILES
    assert all(counts.new + counts.unchanged == FILES for counts in results)
    assert all(not counts.broken and not counts.duplicates for counts in results)
    assert Image.objects.count() == FILES
