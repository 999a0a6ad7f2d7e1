"""Images small enough for a list, each a link to the whole one, and places in an image."""

from typing import Any

from django import template

from annotate.images.copies import thumbnail_url
from annotate.images.files import original_url
from annotate.models import Image

register = template.Library()


@register.inclusion_tag("annotate/thumbnail.html")
def thumbnail(image: Image, alt: str = "") -> dict[str, Any]:
    """The image made small; `alt` says what it is where its id does not stand beside it."""
    return {"image": image, "small": thumbnail_url(image), "whole": original_url(image), "alt": alt}


@register.filter
def per_cent(fraction: float) -> str:
    """A place in an image as SVG takes it: 0.125 is `12.50%`."""
    return f"{fraction:.2%}"


@register.filter
def midway(start: float, end: float) -> str:
    """The place between two, as `per_cent` gives it."""
    return per_cent((start + end) / 2)
