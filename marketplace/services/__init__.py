"""Every change at the marketplace, by topic."""
