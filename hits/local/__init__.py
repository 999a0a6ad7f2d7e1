"""Run both sites as processes on one machine."""
