"""The WSGI application, for a server of the operator's choice, such as gunicorn.

Each process that imports this module also runs the background threads, so the server has to import
it after it has started its processes, as gunicorn does unless `--preload` is given.
`manage.py marketplace` does not use this module.
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

# Models cannot be imported before the application is set up.
from marketplace.background import repeaters  # noqa: E402

for repeater in repeaters():
    repeater.start()
