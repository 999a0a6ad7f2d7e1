"""What the files of every kind of release have in common."""
