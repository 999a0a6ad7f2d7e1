"""How likely each worker is to be careless, and which response to check next, as plain Python."""
