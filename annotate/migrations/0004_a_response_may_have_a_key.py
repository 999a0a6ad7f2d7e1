from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0003_correspondences")]

    operations = [
        migrations.AddField(
            model_name="response",
            name="key",
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
