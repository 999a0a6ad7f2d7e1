"""A campaign without people: drawn scenes, simulated workers, and the two sites as children."""
