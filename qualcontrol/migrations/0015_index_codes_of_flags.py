from django.db import migrations

from annotate.site.postgres_index import PostgresIndex

# `qualcontrol.queries.finding.HasCode` asks in the same form.
INDEX = PostgresIndex(
    "assessment_codes", "qualcontrol_assessment", "gin (string_to_array(codes, ' '))"
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("qualcontrol", "0014_name_reservations_and_learned_values")]

    operations = [migrations.RunPython(INDEX.create, INDEX.drop)]
