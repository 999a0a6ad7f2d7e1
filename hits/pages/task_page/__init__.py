"""The worker's task page: its view, the signed token in its form, and the behaviour counts."""
