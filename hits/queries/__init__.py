"""Read-only queries about campaigns, for pages, the API and commands."""
