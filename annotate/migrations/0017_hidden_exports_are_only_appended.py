from django.db import migrations

from annotate.site.append_only import AppendOnly

LOG = AppendOnly(
    "annotate_hiddenexport",
    "hidden_export",
    "exports of hidden captions are only appended, never changed or deleted",
)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0016_hidden_exports")]

    operations = [migrations.RunPython(LOG.install, LOG.remove)]
