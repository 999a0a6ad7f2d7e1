"""Drawn scenes, whose classes and boxes are known exactly, as a dataset in Open Images' form."""
