"""Pages of the evaluation server: for submitters, and for the researchers who own challenges."""
