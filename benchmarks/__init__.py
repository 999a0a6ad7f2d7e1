"""Measurements of the product beside its limits, each run with `python -m benchmarks.NAME`."""

import os
import sys

import django

# The settings are chosen before the module that is run is loaded: only its name tells them apart.
IS_MARKETPLACES = any(each.startswith("benchmarks.marketplace") for each in sys.orig_argv)
SITE = "marketplace" if IS_MARKETPLACES else "annotate"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"{SITE}.settings")
# Long runs say what they do in a table, not in log lines.
os.environ.setdefault("LOG_LEVEL", "ERROR")
django.setup()
