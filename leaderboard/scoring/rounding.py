"""How many decimals the figures of a challenge have."""

MOST_DECIMALS = 4


def decimals(images: int) -> int:
    """One for ten images, two for a hundred, at most four.

    A score between 0 and 1 of one image then moves the mean of all by at most one step. With more
    decimals, two submissions that differ in one caption would tell that image's score.
    """
    return min(len(str(images)) - 1, MOST_DECIMALS)
