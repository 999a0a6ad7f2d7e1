"""The content security policy of the site's own pages."""

from django.conf import settings

# A form's pictures and recordings are on servers of the requester's. Old forms name them by http,
# which a browser that shows a page by https changes to https, or leaves out.
MEDIA_POLICY = "img-src 'self' https: http:; media-src https: http:"


def content_policy(*, frame_ancestors: str = "'none'") -> str:
    """A policy under which a page runs nothing but the site's own files."""
    # Tasks are framed from anywhere by https, and from some hosts without. A policy has no way
    # to write an IPv6 address.
    hosts = [host for host in settings.MTURK_HTTP_HOSTS if not host.startswith("[")]
    frames = ["'self'", "https:", *(f"http://{host}:*" for host in hosts)]
    if settings.MARKETPLACE_FRAME_URL:
        frames.append(settings.MARKETPLACE_FRAME_URL)
    return (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        f"frame-ancestors {frame_ancestors}; frame-src {' '.join(frames)}"
    )
