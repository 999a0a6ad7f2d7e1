"""A database backend: SQLite, with a queue for writers."""
