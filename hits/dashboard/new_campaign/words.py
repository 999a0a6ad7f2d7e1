"""Words for values of the campaign file."""

PRESET_WORDS = {
    "nocaps": "nocaps: 10 references and a human baseline, with object names",
    "coco-c5": "COCO c5: 5 references and a human baseline, without object names",
    "coco-c40": "COCO c40: 40 references and a human baseline, without object names",
    "imageclef": "ImageCLEF 2015: 3 answers for each caption",
}
