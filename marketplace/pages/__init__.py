"""The workers' pages: signing in, HITs, the frame around a task, qualifications, earnings."""
