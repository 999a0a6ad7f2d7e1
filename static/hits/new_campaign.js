// Stores a step of a new campaign while it is filled in, and shows what the site answers.
