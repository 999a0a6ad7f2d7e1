"""The hidden fields of every form of the site, in place of Django's `csrf_token`."""

from django import template
from django.template.context import RequestContext
from django.template.defaulttags import CsrfTokenNode
from django.utils.html import format_html

from accounts.pages.signed_in import FORM_TEAM, current_team

register = template.Library()


@register.simple_tag(takes_context=True)
def csrf_token(context: RequestContext) -> str:
    """The form's token, and the team for which the page shows it: what the form creates belongs to
    this team, also if the user switches to another one in another tab."""
    token = CsrfTokenNode().render(context)
    request = context.get("request")
    team = current_team(request) if hasattr(request, "user") else None
    if team is None:
        return token
    return token + format_html('<input type="hidden" name="{}" value="{}">', FORM_TEAM, team.pk)
