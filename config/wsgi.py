"""The WSGI application, for a server of the operator's choice: gunicorn, uWSGI, `waitress-serve`.

Such a server does not tell which address it listens on, and may run on several machines that need
the same key. So SECRET_KEY must be set. `serve` and `runserver` know their address and do not use
this module.
"""

import os

from django.core.wsgi import get_wsgi_application

from shared.environment import settings_in_words
from shared.secret_key import check_wsgi_server

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

with settings_in_words():
    check_wsgi_server()

application = get_wsgi_application()
