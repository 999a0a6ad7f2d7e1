"""Files of others, read and checked: data sets of images, and captions collected elsewhere."""
