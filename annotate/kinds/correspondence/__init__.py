"""Word–box links as a task type: the boxes of an image that each word of a caption refers to.

Links are per word, as in ImageCLEF 2015 (Wang and Gaizauskas 2015, section 3). A word without a box
is of one of three kinds, as in Flickr30k Entities (Plummer et al. 2015, section 3). These modules
do not use Django:

- `answers` has one worker's answer, and the agreement of answers
- `nouns` guesses the words that need a link
- `aggregation` combines several answers into one
- `brackets` writes links into the sentence
"""
