"""The evaluation server's part of the JSON API."""
