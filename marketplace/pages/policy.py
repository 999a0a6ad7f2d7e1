"""The Content-Security-Policy of the site's own pages."""

from django.conf import settings

# Images and recordings of forms are on requesters' servers. Old forms use http URLs, which browsers
# upgrade or block on an https page.
MEDIA_POLICY = "img-src 'self' https: http:; media-src https: http:"


def content_policy(*, frame_ancestors: str = "'none'") -> str:
    """A policy that allows scripts and styles from this site only."""
    # Task pages may come from any https URL and some http hosts. A policy cannot express an IPv6
    # address.
    hosts = [host for host in settings.MTURK_HTTP_HOSTS if not host.startswith("[")]
    frames = ["'self'", "https:", *(f"http://{host}:*" for host in hosts)]
    if settings.MARKETPLACE_FRAME_URL:
        frames.append(settings.MARKETPLACE_FRAME_URL)
    return (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        f"frame-ancestors {frame_ancestors}; frame-src {' '.join(frames)}"
    )
