"""Pages and API views for releases and images, and helpers that all signed-in pages share."""
