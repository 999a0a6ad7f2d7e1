"""The requester's side of the marketplace: HITs, assignments, payments, task pages, dashboard."""
