"""Measurements of the product beside its limits, each run with `python -m benchmarks.NAME`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
# Long runs say what they do in a table, not in log lines.
os.environ.setdefault("LOG_LEVEL", "ERROR")
django.setup()
