"""The JSON API of the requester site: campaigns, responses, releases and tokens."""
