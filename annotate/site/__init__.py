"""What the running site needs: its keys, logs, connections, system checks and background work."""
