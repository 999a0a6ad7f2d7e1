"""The requester site: HITs, assignments, payments, task pages and the dashboard."""
