"""Simulated workers, who use the marketplace's pages over HTTP like a browser."""
