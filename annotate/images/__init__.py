"""Image files under MEDIA_ROOT, and their copies for pages."""
