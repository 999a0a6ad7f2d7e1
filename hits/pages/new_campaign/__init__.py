"""New campaign in steps: a stored draft of the campaign file, its forms, checks and pages."""
