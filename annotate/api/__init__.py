"""What all views of the API share, and the views of images, selections and releases."""
