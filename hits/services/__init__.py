"""Every change on the requester's side of the marketplace, by topic."""
