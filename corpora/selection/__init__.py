"""Selection of images for a campaign, their priming keywords and their nocaps domains."""
