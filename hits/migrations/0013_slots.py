from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    dependencies = [("hits", "0012_literal_model_names")]

    operations = [
        migrations.RemoveConstraint("hit", "hit_one_to_nine_seats"),
        migrations.RemoveConstraint("hit", "hit_counts_within_seats"),
        migrations.RemoveConstraint("hit", "hit_settled_within_ingested"),
        migrations.RenameField("hit", "seats", "slots"),
        migrations.AddConstraint(
            "hit",
            models.CheckConstraint(
                condition=Q(slots__gte=1, slots__lte=9), name="hit_one_to_nine_slots"
            ),
        ),
        migrations.AddConstraint(
            "hit",
            models.CheckConstraint(
                condition=Q(available__lte=F("slots")) & Q(pending__lte=F("slots")),
                name="hit_counts_within_slots",
            ),
        ),
        migrations.AddConstraint(
            "hit",
            models.CheckConstraint(
                condition=Q(settled__lte=F("ingested")) & Q(ingested__lte=F("slots")),
                name="hit_settled_within_ingested",
            ),
        ),
    ]
