"""Score captions against references, with the metrics of COCO and nocaps. Does not use models.

- `references` and `results` read and check the files, also those with scores of other metrics
- `tokenisers` splits captions into words, with the official tokeniser or our own
- `metrics` has a function for each metric, which gives statistics of each image
- `scoring` turns the statistics into figures, and `bootstrap` into intervals and comparisons
- `judgements` reads what people said of captions, and `correlation` compares figures with it
- `java` runs the official Java programs within limits of time and memory

Figures of single images stay inside: reports and commands print figures of all images and of
subsets only, because figures of single images would give hidden references away.
"""
