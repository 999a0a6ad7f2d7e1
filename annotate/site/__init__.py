"""Infrastructure of the running site: keys, logs, connections, system checks, background work."""
