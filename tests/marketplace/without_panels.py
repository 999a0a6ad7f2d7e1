"""Settings of a marketplace without the app `panels`."""

from marketplace.settings import *  # noqa: F403
from marketplace.settings import INSTALLED_APPS

INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "marketplace.panels"]
