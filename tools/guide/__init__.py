"""The pictures of the user guide, taken from the demonstration by Chromium."""
