"""A database backend: SQLite with writers that wait for their turn."""
