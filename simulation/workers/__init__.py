"""Simulated workers, who come to the marketplace's pages over HTTP as people do with a browser."""
