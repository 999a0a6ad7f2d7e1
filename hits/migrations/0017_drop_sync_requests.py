"""Syncs are requested as jobs now. Requests that wait are lost: the next scheduled sync does them."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("hits", "0016_reward_of_a_hit_type")]

    operations = [
        migrations.DeleteModel("SyncRequest"),
        migrations.RemoveIndex("sync", "sync_going_on"),
    ]
