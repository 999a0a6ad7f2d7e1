"""Pages: the worker's task page here, the researcher's in `dashboard`."""
