"""Texts that several workers write one after the other, each building on the last one's version.

ImageInWords collected its descriptions so: a model's draft, which people enrich and correct in turn
(Garg et al., EMNLP 2024, sections 3 and 4). The first round begins with a draft or with nothing.
"""
