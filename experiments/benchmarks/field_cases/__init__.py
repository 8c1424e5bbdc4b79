"""Cases of the table of the field: our selectors and those of packages, by family."""
