"""Pages of images and selections: find, look at, select and import images."""
