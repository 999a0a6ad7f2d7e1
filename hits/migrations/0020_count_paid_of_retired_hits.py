from django.db import migrations
from django.db.models import Case, Count, Exists, OuterRef, Subquery, When
from django.db.models.functions import Coalesce

AT_ONCE = 1000


def count_paid(apps, _schema_editor):
    """In small transactions, so that no page waits."""
    hits = apps.get_model("hits", "Hit").objects
    of_hit = apps.get_model("hits", "Assignment").objects.filter(hit=OuterRef("pk")).order_by()
    paid = of_hit.filter(status="APPROVED").values("hit").annotate(n=Count("pk")).values("n")
    keys = list(hits.filter(status="RETIRED", paid=None).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), AT_ONCE):
        hits.filter(pk__in=keys[start : start + AT_ONCE], status="RETIRED").update(
            paid=Case(
                When(Exists(of_hit.filter(status="SUBMITTED")), then=None),
                default=Coalesce(Subquery(paid), 0),
            )
        )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("hits", "0019_paid_of_retired_hits")]

    operations = [migrations.RunPython(count_paid, migrations.RunPython.noop)]
