"""Pages of images, selections, releases and webhooks, and image files."""
