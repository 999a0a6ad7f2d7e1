"""Texts that the scripts of the task page show, in the active language."""

from django.utils.translation import gettext


def script_texts() -> dict[str, str]:
    """By the names that `static/hits/correspondence/` uses; the scripts fill in what is in braces.

    `{box}` is a text `box`, and `{words}` a text `quoted`, or several with a `comma` between them.
    """
    return {
        "quoted": gettext("“{words}”"),
        "comma": gettext(", "),
        "and": gettext("{one} and {other}"),
        "box": gettext("box {number}, {label}"),
        "choose": gettext("Choose a word or a box."),
        "whichBoxes": gettext("Which boxes show {words}?"),
        "whichWords": gettext("Which words name {box}?"),
        "answer": gettext("{words}: {answer}."),
        "noChoice": gettext("no choice"),
        "progress": gettext("{progress}."),
        "missing": gettext("Please choose a box for {words}, or say why no box fits."),
        "undone": gettext("Undone."),
        "redone": gettext("Redone."),
        "mayGoOn": gettext("Box {number}: Enter, or another digit"),
        "sayMayGoOn": gettext("Box {number}: press Enter, or another digit."),
        "not-boxed": gettext("no box"),
        "scene": gettext("scene"),
        "not-visual": gettext("not seen"),
        "toDo": gettext("still to do"),
    }
