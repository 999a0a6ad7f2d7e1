"""Every change of the evaluation server's data, one module for each topic."""
