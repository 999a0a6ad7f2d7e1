"""Read and check files from others: datasets of images, and captions collected elsewhere."""
