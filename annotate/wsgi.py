"""The WSGI application, for a server of the operator's choice: gunicorn, uWSGI, `waitress-serve`.

Such a server does not tell which address it listens on, and may run on several machines that need
the same key. So SECRET_KEY must be set. `serve` and `runserver` know their address and do not use
this module.
"""

import os

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

from annotate.site.secret_key import ADVICE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")

if not settings.SECRET_KEY_IS_SET:
    raise ImproperlyConfigured(f"SECRET_KEY is not set, which a WSGI server needs. {ADVICE}")

application = get_wsgi_application()
