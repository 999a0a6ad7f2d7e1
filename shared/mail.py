"""Whether this site sends e-mail, and to which address."""

import idna
from django.conf import settings


def sends_email() -> bool:
    """Whether this installation can send e-mail."""
    return bool(settings.EMAIL_HOST) or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")


def with_ascii_domain(address: str) -> str:
    """The address as mail servers know it. Django's own encoding turns ß into ss (IDNA 2003)."""
    name, at, domain = address.rpartition("@")
    try:
        return f"{name}{at}{idna.encode(domain, uts46=True).decode()}"
    except idna.IDNAError:
        return address
