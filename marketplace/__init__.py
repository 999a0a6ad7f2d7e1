"""A marketplace site that speaks Mechanical Turk's Requester API."""
