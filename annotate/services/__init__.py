"""Every change of the domain, one function each, by topic."""
