"""The metrics. Each gives statistics of each image, which add up to the figures of any images."""
