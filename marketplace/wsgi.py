"""The WSGI application, for a server of the operator's choice.

`manage.py marketplace` is the usual way and does not use this module. It also runs the background
threads.
"""

import os

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

from marketplace.keys import SET_ONE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")

if not settings.SECRET_KEY_IS_SET:
    raise ImproperlyConfigured(
        "A WSGI server does not tell the marketplace on which address it listens, so you have "
        f"to set a signing key of your own. {SET_ONE}"
    )

application = get_wsgi_application()
