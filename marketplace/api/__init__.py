"""The Requester API on the wire: signatures, shapes, errors, and a handler for each operation."""
