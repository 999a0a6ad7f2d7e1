from django.db import migrations

from qualcontrol.models import append_only


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0001_initial")]

    operations = [migrations.RunPython(append_only.install, append_only.remove)]
