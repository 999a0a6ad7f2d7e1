"""The domain: images, selections, campaigns, tasks, responses, releases, exports."""
