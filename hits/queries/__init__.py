"""What pages, the API and commands read about a campaign."""
