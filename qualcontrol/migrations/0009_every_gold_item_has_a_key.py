from uuid import uuid4

from django.db import migrations


def give_keys(apps, schema_editor):
    Gold = apps.get_model("qualcontrol", "Gold")
    without = Gold.objects.filter(key=None)
    while numbers := list(without.values_list("pk", flat=True)[:2000]):
        rows = [Gold(pk=number, key=uuid4()) for number in numbers]
        Gold.objects.bulk_update(rows, ["key"])


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0008_a_gold_item_may_have_a_key")]

    operations = [migrations.RunPython(give_keys, migrations.RunPython.noop)]
