"""Each earlier verdict becomes its reviewer's judgement, and each check knows its campaign and how
it was drawn."""

import random

from django.db import migrations


def fill(apps, schema_editor):
    SpotCheck = apps.get_model("qualcontrol", "SpotCheck")
    Judgement = apps.get_model("qualcontrol", "Judgement")
    checks = SpotCheck.objects.select_related("response__task__campaign").order_by("pk")
    for check in checks.iterator(chunk_size=2000):
        campaign = check.response.task.campaign
        config = campaign.config_json
        # As the share was drawn until now; what it did not draw was among a worker's first.
        check.draw = random.Random(f"{config.get('seed', 0)}:{check.response_id}").random()
        check.is_random = check.draw < config.get("review", {}).get("share", 0.05)
        check.is_first = not check.is_random
        check.campaign = campaign
        check.save(update_fields=["draw", "is_random", "is_first", "campaign"])
        if check.verdict:
            Judgement.objects.create(
                spot_check=check,
                reviewer_id=check.reviewer_id,
                verdict=check.verdict,
                reason=check.reason,
                at=check.judged_at,
            )


def empty(apps, schema_editor):
    SpotCheck = apps.get_model("qualcontrol", "SpotCheck")
    Judgement = apps.get_model("qualcontrol", "Judgement")
    for judgement in Judgement.objects.order_by("-pk").iterator(chunk_size=2000):
        SpotCheck.objects.filter(pk=judgement.spot_check_id).update(
            reviewer_id=judgement.reviewer_id
        )
    Judgement.objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0004_standings_judgements_and_gold")]

    operations = [migrations.RunPython(fill, empty)]
