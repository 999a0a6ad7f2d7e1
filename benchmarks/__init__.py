"""Benchmarks of the product, each run with `python -m benchmarks.NAME`."""

import os
import sys

import django

# Settings must be chosen before the benchmark's module is loaded, so its name decides.
IS_MARKETPLACES = any(argument.startswith("benchmarks.marketplace") for argument in sys.orig_argv)
SITE = "marketplace" if IS_MARKETPLACES else "config"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", f"{SITE}.settings")
# Benchmarks print tables, so log lines are turned off.
os.environ.setdefault("LOG_LEVEL", "ERROR")
django.setup()
