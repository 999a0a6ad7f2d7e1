"""Panels that recruit participants: what the site asks of a panel, and each panel's own words."""
