"""The signed-in pages of quality control: for the reviewer, and for the researcher."""
