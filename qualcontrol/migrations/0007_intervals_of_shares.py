from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0006_a_check_has_a_campaign")]

    operations = [
        migrations.AddField(
            model_name="standing",
            name="low",
            field=models.FloatField(
                default=0, help_text="the share's interval of 90 % probability, from"
            ),
        ),
        migrations.AddField(
            model_name="standing",
            name="high",
            field=models.FloatField(default=1, help_text="and to"),
        ),
    ]
