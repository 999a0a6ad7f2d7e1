"""Functions that change the database, one module per topic. Each function is one transaction."""
