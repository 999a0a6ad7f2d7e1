"""Studies at panels: their drafts, their submissions, and the money that the panel pays."""
