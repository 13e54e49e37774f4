"""Forms of models that `drawn_cases` draws."""
