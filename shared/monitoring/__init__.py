"""How a running site is watched: health, metrics, and ids of requests."""
