"""Changes of teams, tokens and idempotency keys."""
