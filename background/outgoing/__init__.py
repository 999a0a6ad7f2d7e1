"""Requests to addresses that people entered, with the protections that these need."""
