"""How dates are written on pages; other languages have Django's formats."""
