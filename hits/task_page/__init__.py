"""The worker's task page: what it shows, the token that ties its form to it, and what is sent."""
