from django.db import migrations
from django.utils import timezone


def put_into_the_first_team(apps, schema_editor):
    """What exists belongs to the first team, in which everybody keeps the rights they had."""
    using = schema_editor.connection.alias
    Team = apps.get_model("annotate", "Team")
    now = timezone.now()
    team, _ = Team.objects.using(using).get_or_create(
        slug="default", defaults={"name": "Default team", "created_at": now}
    )
    for name in ("Campaign", "CampaignDraft", "Selection", "CaptionSet", "Job"):
        apps.get_model("annotate", name).objects.using(using).filter(team=None).update(team=team)
    Submitter = apps.get_model("leaderboard", "Submitter")
    Membership = apps.get_model("annotate", "Membership")
    users = apps.get_model("auth", "User").objects.using(using)
    submitters = Submitter.objects.using(using).values("user")
    Membership.objects.using(using).bulk_create(
        Membership(team=team, user=user, role="RESEARCHER", joined_at=now)
        for user in users.exclude(pk__in=submitters).order_by("pk")
    )


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0024_teams"),
        ("leaderboard", "0001_challenges_and_submissions"),
    ]

    operations = [migrations.RunPython(put_into_the_first_team, migrations.RunPython.noop)]
