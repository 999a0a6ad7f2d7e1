"""Content selection: which boxes of an image does a description mention?

The metric, its human upper bound and the baselines of Wang and Gaizauskas, "Generating Image
Descriptions with Gold Standard Visual Inputs" (ENLG 2015). Does not use Django. `metric` computes
scores, `baselines` learns from development images and ranks an image's boxes, and `files` reads
the input.
"""
