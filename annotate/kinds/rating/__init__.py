"""Caption ratings: people judge whether captions are true, complete and fluent.

Metrics do not replace such ratings (Chen et al. 2015, section 6). `rules` is the section of the
campaign file, `sources` finds the captions, `answers` is one worker's answer, `scores` computes the
statistics, and `release` and `writing` create a release.
"""
