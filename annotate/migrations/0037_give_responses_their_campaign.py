from django.db import migrations
from django.db.models import OuterRef, Subquery

AT_ONCE = 5000


def give_campaigns(apps, _schema_editor):
    """In small transactions, so that no page waits."""
    responses = apps.get_model("annotate", "Response").objects
    of_task = apps.get_model("annotate", "Task").objects.filter(pk=OuterRef("task"))
    last, after = responses.order_by("-pk").values_list("pk", flat=True).first() or 0, 0
    while after < last:
        batch = responses.filter(pk__gt=after, pk__lte=after + AT_ONCE, campaign=None)
        batch.update(campaign=Subquery(of_task.values("campaign")))
        after += AT_ONCE


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("annotate", "0036_campaign_of_responses")]

    operations = [migrations.RunPython(give_campaigns, migrations.RunPython.noop)]
