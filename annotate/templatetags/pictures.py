"""Thumbnails for lists, each linked to the original image, and positions in an image for SVG."""

from typing import Any

from django import template

from annotate.images.copies import display_url, thumbnail_url
from annotate.images.files import original_url
from annotate.models import Image

register = template.Library()


@register.inclusion_tag("annotate/thumbnail.html")
def thumbnail(image: Image, alt: str = "") -> dict[str, Any]:
    """A small copy of the image. Give `alt` if the page does not show the image's id next to it."""
    return {"image": image, "small": thumbnail_url(image), "whole": original_url(image), "alt": alt}


register.filter(thumbnail_url)
register.filter(display_url)


@register.filter
def per_cent(fraction: float) -> str:
    """A fraction as a percentage for SVG: 0.125 is `12.50%`."""
    return f"{fraction:.2%}"


@register.filter
def midway(start: float, end: float) -> str:
    """The middle between two fractions, as a percentage for SVG."""
    return per_cent((start + end) / 2)
