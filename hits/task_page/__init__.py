"""The worker's task page: its content, the token in its form, and the answers sent from it."""
