"""The dashboard: the researcher's pages."""
