"""Captions without a site: language, reading of files, datasets, selection, evaluation, reports.

Plain Python without Django.
"""
