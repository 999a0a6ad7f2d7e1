"""The XML documents of the marketplace: questions, tests, answer keys and answers."""
