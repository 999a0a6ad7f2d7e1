from django.db import migrations


class Migration(migrations.Migration):
    """Tokens of rest_framework.authtoken, which is not installed any more, never ended and were
    stored as they are; nothing reads them now."""

    dependencies = [("annotate", "0007_api_tokens")]

    operations = [
        migrations.RunSQL("DROP TABLE IF EXISTS authtoken_token", migrations.RunSQL.noop)
    ]
