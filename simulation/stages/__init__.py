"""The demonstration's parts, in the order in which they come."""
