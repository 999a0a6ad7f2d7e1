import django.db.models.deletion
from django.db import migrations, models

from annotate.site.postgres_index import AddIndexWhileWriting, SetNotNullWhileWriting


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("annotate", "0037_give_responses_their_campaign")]

    operations = [
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(
                fields=["campaign", "status", "submitted_at"], name="response_by_campaign"
            ),
        ),
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(
                fields=["worker", "campaign", "status"], name="response_by_worker_new"
            ),
        ),
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(
                condition=models.Q(("status", "DISCARDED")),
                fields=["campaign", "id", "worker"],
                name="response_discarded_new",
            ),
        ),
        SetNotNullWhileWriting(
            model_name="response",
            name="campaign",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="responses",
                to="annotate.campaign",
            ),
        ),
    ]
