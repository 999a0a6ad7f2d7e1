"""Image files under MEDIA_ROOT, and the copies of them that pages show."""
