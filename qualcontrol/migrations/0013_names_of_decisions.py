from django.db import migrations, models

ACTS = [
    ("JUDGE_GOOD", "judged good"),
    ("JUDGE_BAD", "judged bad"),
    ("DISCARD", "discarded"),
    ("RESTORE", "restored"),
    ("EXCLUDE", "excluded"),
    ("REINSTATE", "reinstated"),
    ("REJECT", "to be rejected"),
    ("PAY", "to be paid"),
    ("PROPOSE", "proposed for exclusion"),
    ("LEAVE", "proposal dismissed"),
    ("PAUSE", "paused"),
    ("LET_GO_ON", "pause ended"),
    ("APPEAL", "appealed"),
    ("ANSWER", "appeal answered"),
]


class Migration(migrations.Migration):
    """Change what pages call two decisions. The stored values stay."""

    dependencies = [("qualcontrol", "0012_worker_risks")]

    operations = [
        migrations.AlterField("decision", "act", models.CharField(choices=ACTS, max_length=10)),
    ]
