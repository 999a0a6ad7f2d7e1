"""Backups of one site: written, read back, recorded, shown to operators, restored. A Django app."""
