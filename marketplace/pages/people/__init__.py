"""Pages for an operator's own people, in plain words: welcome, tasks, done work, account."""
