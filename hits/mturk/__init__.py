"""The marketplace's API: calls, checked replies, questions, answers and the event queue."""
