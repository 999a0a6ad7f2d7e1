"""The language of captions: characters, words, spelling, and the similarity of captions."""
