"""What all signed-in pages share, and the pages of the user's own account and team."""
