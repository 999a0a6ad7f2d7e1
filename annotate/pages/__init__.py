"""The pages and API answers that show the domain, and what all signed-in pages share."""
