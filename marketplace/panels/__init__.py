"""Studies at a panel by its API: drafts, signed arrivals, submissions, and what the panel pays.

An app that a marketplace can do without: the rest of the marketplace does not import it, and asks
all apps by `marketplace.extensions`.
"""
