"""Work that is done later: jobs, what runs them, failures, notices."""
