"""Pages of jobs, failures and notices."""
