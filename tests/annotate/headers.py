"""The header lines of Open Images, V4 to V6."""

from corpora.datasets.openimages import BOX_COLUMNS

BOX_HEADER = ["ImageID", "Source", *BOX_COLUMNS[1:]]
IMAGE_HEADER = [
    "ImageID",
    "Subset",
    "OriginalURL",
    "OriginalLandingURL",
    "License",
    "AuthorProfileURL",
    "Author",
    "Title",
    "OriginalSize",
    "OriginalMD5",
    "Thumbnail300KURL",
    "Rotation",
]
