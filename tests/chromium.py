"""Where Chromium is, and how tests start it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
# Chromium without windows, profiles and extensions, which takes two thirds of the processor time.
HEADLESS_SHELL = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or CHROMIUM
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def launched(playwright: Playwright) -> Iterator[Browser]:
    """A browser for many tests, each with its own context."""
    if not HEADLESS_SHELL:
        pytest.fail("Chromium is not installed (Debian's package is called chromium).")
    chromium = playwright.chromium.launch(executable_path=HEADLESS_SHELL, args=ARGUMENTS)
    yield chromium
    chromium.close()
