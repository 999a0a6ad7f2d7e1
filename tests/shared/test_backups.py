"""What stops a backup before it is written. `tests/hits/test_backups.py` restores whole ones."""

import pytest
from django.utils import timezone

from shared.backups.files import BackupRefused, write_backup


@pytest.mark.parametrize("place", ["", "backups/monday"])
def test_a_backup_inside_of_what_it_copies_is_refused(tmp_path, place):
    media = tmp_path / "media"
    media.mkdir()

    with pytest.raises(BackupRefused, match="is in the folder of the site's files"):
        write_backup(media / place, media=media, at=timezone.now())

    assert list(media.iterdir()) == []
