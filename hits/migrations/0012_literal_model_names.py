from django.db import migrations, models
from django.db.models import Q
import django.db.models.deletion


class Migration(migrations.Migration):
    dependencies = [("hits", "0011_hold_unplaced_answers")]

    operations = [
        migrations.RenameModel("Barring", "WorkerBarring"),
        migrations.RenameModel("SyncWish", "SyncRequest"),
        migrations.AlterModelOptions("syncrequest", options={}),
        migrations.AlterField(
            "syncrequest",
            "campaign",
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sync_request",
                to="annotate.campaign",
            ),
        ),
        migrations.RenameField("syncrequest", "asked_at", "requested_at"),
        migrations.AlterField(
            "syncrequest",
            "sync",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="requests",
                to="hits.sync",
            ),
        ),
        migrations.RemoveConstraint("notice", "notice_body_kept_with_a_problem_only"),
        migrations.RenameModel("Notice", "ProcessedMessage"),
        migrations.AddConstraint(
            "processedmessage",
            models.CheckConstraint(
                condition=~Q(problem="") | Q(body=""),
                name="processed_message_body_kept_with_a_problem_only",
            ),
        ),
        migrations.RenameIndex(
            "processedmessage",
            old_name="notice_by_age",
            new_name="processed_message_by_age",
        ),
    ]
