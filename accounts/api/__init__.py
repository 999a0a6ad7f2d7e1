"""What all views of the API share, and the view of tokens."""
