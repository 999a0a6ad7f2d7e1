"""A second factor for sign-in: codes of an authenticator app, or recovery codes. A Django app."""
