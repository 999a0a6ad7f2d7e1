"""The API of campaigns: tasks, responses, workers and payments."""
