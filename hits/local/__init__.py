"""Both sites as processes on one machine."""
