from typing import Any

from django.db import migrations


def hold(apps: Any, _schema_editor: object) -> None:
    """Have a person decide about submitted answers of before that fit no task."""
    held_payment = apps.get_model("qualcontrol", "HeldPayment")
    waiting = (
        apps.get_model("hits", "Assignment")
        .objects.filter(status="SUBMITTED", deciding="")
        .exclude(unplaced_answer="")
    )
    held_payment.objects.bulk_create(
        held_payment(
            campaign_id=assignment.hit.campaign_id,
            worker_id=assignment.account.worker_id,
            assignment=assignment,
            cause="NO_TASK",
            why="The answer fits no task of this campaign.",
            held_at=assignment.submitted_at,
        )
        for assignment in waiting.select_related("hit", "account").order_by("pk")
    )


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0010_gone_hits_and_unknown_hits"),
        ("qualcontrol", "0011_held_payments"),
    ]

    operations = [migrations.RunPython(hold, migrations.RunPython.noop)]
