"""The WSGI application, for a server of the operator's choice, such as gunicorn.

Each process that imports this module also runs the background threads, so the server has to import
it after it has started its processes, as gunicorn does unless `--preload` is given.
`manage.py marketplace` does not use this module.
"""

import os

from django.core.wsgi import get_wsgi_application

from shared.environment import settings_in_words
from shared.secret_key import check_wsgi_server

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")

with settings_in_words():
    check_wsgi_server()

application = get_wsgi_application()

# Models cannot be imported before the application is set up.
from marketplace.server import repeaters  # noqa: E402

for repeater in repeaters():
    repeater.start()
