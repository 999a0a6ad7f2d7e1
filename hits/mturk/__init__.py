"""The marketplace's API as this product calls it, without our tables."""
