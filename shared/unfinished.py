"""The name of a file that is being written, so that backups leave it out."""

# A finished file never has this suffix: it gets its own name when it is complete.
SUFFIX = ".part"
