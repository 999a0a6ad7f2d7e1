"""Exports: tables of a release, file formats, and the folders and archives that hold them."""
