"""Content selection: which of an image's boxes does a description mention?

The metric, its human upper bound and the baselines of Wang and Gaizauskas, "Generating Image
Descriptions with Gold Standard Visual Inputs" (ENLG 2015), in plain Python. `metric` scores,
`baselines` ranks an image's boxes, `files` reads what both work on, `figures` draws the scores.
"""
