from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0007_intervals_of_shares")]

    operations = [
        migrations.AddField(
            model_name="gold",
            name="key",
            field=models.UUIDField(editable=False, null=True),
        ),
    ]
