"""Campaigns with a practice before a worker's first task."""

from tests.factories import HitFactory, HitTypeFactory, ImageFactory, make_campaign

GRADES = [True, False, False, True]
REASONS = ["It says what matters.", "It is a list.", "It guesses.", "Short and complete."]


def make_practice(**practice):
    images = ImageFactory.create_batch(2)
    captions = [
        {
            "image": images[number // 2].key,
            "text": f"Graded caption {number}",
            "good": good,
            "why": why,
        }
        for number, (good, why) in enumerate(zip(GRADES, REASONS, strict=True))
    ]
    campaign = make_campaign(tasks=3, practice={"captions": captions, **practice})
    campaign.practice_images.set(images)
    return campaign


def make_hit(**practice):
    return HitFactory(hit_type=HitTypeFactory(campaign=make_practice(**practice)), slots=3)
