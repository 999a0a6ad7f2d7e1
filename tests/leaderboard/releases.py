"""Make releases with hidden images for tests."""

from annotate.models import Release, ReleasedImage
from qualcontrol.services.releasing import release_campaign
from tests.factories import CampaignFactory, ResponseFactory, TaskFactory
from tests.leaderboard.making import NOON


def make_release(*, images: int = 12) -> Release:
    """Hidden images with two references and a human baseline each; half of them in-domain."""
    campaign = CampaignFactory(slug="beach", config={"references": 2})
    for number in range(1, images + 1):
        task = TaskFactory(campaign=campaign, number=number)
        for reference in range(3):
            ResponseFactory(
                task=task,
                text=f"Secretly {reference + 1} brown dogs follow kite number {number} at dawn.",
            )
    made = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    for image in ReleasedImage.objects.filter(release=made):
        image.record["domain"] = "in-domain" if image.number % 2 else "out-domain"
        image.is_hidden = True
        image.save()
    return made
