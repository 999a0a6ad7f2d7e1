"""Caption ratings: people judge whether captions are true, complete and fluent.

Metrics do not replace such ratings (Chen et al. 2015, section 6). `answers` has the section of the
campaign file and reads one worker's answer, `sources` finds the captions, `scores` computes the
statistics, and `release` creates a release.
"""
