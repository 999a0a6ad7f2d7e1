"""Functions that the exports of all task types share."""
