"""The evaluation server's API."""
