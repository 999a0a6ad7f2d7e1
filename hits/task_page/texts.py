"""The texts that the task page's script shows, in the campaign's language."""

from django.utils.translation import gettext


def script_texts() -> dict[str, str]:
    """By the names that `static/hits/task.js` uses; the script fills in what is in braces."""
    return {
        "tooFew": gettext("Words: {count}; write at least {least}."),
        "tooMany": gettext("Words: {count}; write at most {most}."),
        "enough": gettext("Words: {count}"),
        "saving": gettext("Saving…"),
        "saved": gettext("Saved. Submitting to the marketplace…"),
        "correct": gettext("Please correct the marked fields."),
    }
