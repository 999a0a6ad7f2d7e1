"""The Requester API: signatures, validation, errors, and a handler for each operation."""
