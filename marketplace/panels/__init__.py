"""Studies at a panel by its API: drafts, signed arrivals, submissions, and what the panel pays.

An app that a marketplace can do without: the rest of the marketplace does not import it, and asks
all apps by `marketplace.extensions`.

The only panel is Prolific. Another one would replace `client.py` (requests), `panel.py` (statuses
and JSON) and `arrivals.py` (signatures), the parts of `services/` that know Prolific's statuses and
rules for payments, and the settings `PROLIFIC_…`.
"""
