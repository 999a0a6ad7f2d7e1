"""The hidden field of forms that are carried out once."""

from uuid import uuid4

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotate.pages.once import FIELD

register = template.Library()


@register.simple_tag
def form_key() -> SafeString:
    """A key for this form, for views with `@once`."""
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, uuid4())
