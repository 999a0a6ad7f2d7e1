"""Functions that change the requester site's data about the marketplace, one module per topic."""
