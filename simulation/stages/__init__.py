"""The steps of the demo."""
