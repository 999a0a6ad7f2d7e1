"""What pages and commands read, where it takes more than one query."""
