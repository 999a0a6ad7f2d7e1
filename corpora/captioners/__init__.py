"""Files for captioning models: constraints for decoding, and splits that hold out word pairs.

`constraints` and `word_forms` follow nocaps (Agrawal et al. 2019, section 4 and appendix 4.2); the
other modules follow Nikolaus et al. (2019).
"""
