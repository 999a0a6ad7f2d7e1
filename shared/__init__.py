"""What both sites use. Imports neither of them, so that the two stay independent."""
