"""The workers' pages: sign-in, HITs, task frames, qualifications, studies and earnings."""
