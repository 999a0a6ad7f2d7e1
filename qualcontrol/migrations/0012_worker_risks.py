import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q


def foreign_key(to, on_delete, **options):
    """A key with the related name that fits the model's new name."""
    return models.ForeignKey(
        to=to, on_delete=on_delete, related_name="worker_risks", **options
    )


class Migration(migrations.Migration):
    """Rename Standing to WorkerRisk, with its fields, constraints and index."""

    dependencies = [("qualcontrol", "0011_held_payments")]

    operations = [
        migrations.RemoveIndex("standing", "standing_worth_most"),
        migrations.RemoveConstraint("standing", "standing_once_per_worker"),
        migrations.RemoveConstraint("standing", "standing_verdicts_within_responses"),
        migrations.RenameModel("Standing", "WorkerRisk"),
        migrations.RenameModel("StandingChange", "WorkerRiskChange"),
        migrations.RenameField("workerrisk", "worth", "expected_value"),
        migrations.RenameField("workerrisk", "because", "reasons"),
        migrations.AlterField(
            "workerrisk",
            "campaign",
            foreign_key("annotate.campaign", django.db.models.deletion.CASCADE, db_index=False),
        ),
        migrations.AlterField(
            "workerrisk",
            "worker",
            foreign_key("annotate.worker", django.db.models.deletion.PROTECT),
        ),
        migrations.AlterField(
            "workerrisk",
            "good",
            models.PositiveIntegerField(default=0, help_text="Responses judged good."),
        ),
        migrations.AlterField(
            "workerrisk",
            "bad",
            models.PositiveIntegerField(default=0, help_text="Responses judged bad."),
        ),
        migrations.AlterField(
            "workerrisk",
            "risk",
            models.FloatField(
                default=0, help_text="Probability that the bad share is above the tolerated share."
            ),
        ),
        migrations.AlterField(
            "workerrisk",
            "share",
            models.FloatField(default=0, help_text="Expected share of bad responses."),
        ),
        migrations.AlterField(
            "workerrisk",
            "low",
            models.FloatField(default=0, help_text="Lower end of the share's 90% interval."),
        ),
        migrations.AlterField(
            "workerrisk",
            "high",
            models.FloatField(default=1, help_text="Upper end of the share's 90% interval."),
        ),
        migrations.AlterField(
            "workerrisk",
            "expected_value",
            models.FloatField(
                default=0,
                help_text="Of the worker's next check: bad responses removed per check. Negative "
                "if no check is left.",
            ),
        ),
        migrations.AlterField(
            "weights",
            "values",
            models.JSONField(
                null=True,
                help_text="Learned values, as in qualcontrol.risk; empty if nothing was learned "
                "yet.",
            ),
        ),
        migrations.AddIndex(
            "workerrisk",
            models.Index(fields=["campaign", "-expected_value"], name="worker_risk_most_valuable"),
        ),
        migrations.AddConstraint(
            "workerrisk",
            models.UniqueConstraint(
                fields=("campaign", "worker"), name="worker_risk_once_per_worker"
            ),
        ),
        migrations.AddConstraint(
            "workerrisk",
            models.CheckConstraint(
                condition=Q(responses__gte=F("good") + F("bad")),
                name="worker_risk_verdicts_within_responses",
            ),
        ),
    ]
