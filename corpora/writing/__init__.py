"""Write files: folders that appear complete or not at all, and JSON of any size."""
