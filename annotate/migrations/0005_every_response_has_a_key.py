from uuid import uuid4

from django.db import migrations


def give_keys(apps, schema_editor):
    Response = apps.get_model("annotate", "Response")
    without = Response.objects.filter(key=None)
    while numbers := list(without.values_list("pk", flat=True)[:2000]):
        rows = [Response(pk=number, key=uuid4()) for number in numbers]
        Response.objects.bulk_update(rows, ["key"])


class Migration(migrations.Migration):
    dependencies = [("annotate", "0004_a_response_may_have_a_key")]

    operations = [migrations.RunPython(give_keys, migrations.RunPython.noop)]
