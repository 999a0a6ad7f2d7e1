"""The risk model in plain Python: each worker's risk, and which response to check next."""
