"""Which words of a caption refer to which boxes of its image, as plain Python.

Word by word, as in ImageCLEF 2015 (Wang and Gaizauskas 2015, section 3); a word without a box is of
one of three kinds, the distinctions of Flickr30k Entities (Plummer et al. 2015, section 3).
`answers` is one worker's answer, `nouns` guesses which words will need one, `aggregation` makes one
answer of several, `agreement` says how far they agree, `brackets` writes them into the sentence.
"""
