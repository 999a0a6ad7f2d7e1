"""The subset selection and the priming keywords of nocaps, as plain Python."""
