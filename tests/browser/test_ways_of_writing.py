"""How texts come into the field of a real page: what is counted, and which flags that sets.

The table in docs/flags.md has the same cases.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from annotate.models import Response
from hits.reconcile.reconciler import reconcile
from tests.browser.campaigns import accept
from tests.hits.framed_work import published

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCE = "A brown dog jumps over a low wooden fence in a garden."
LONG = (
    f"{SENTENCE[:-1]} while two children watch it from a white bench under an old apple tree, and "
    "behind them a woman in a blue coat pushes a bicycle along the narrow path to the red barn, "
    "whose door stands open to show a tractor, three sacks of grain and a sleeping cat."
)
ALL = len(SENTENCE)


def compose(page: Page, *texts: str) -> None:
    """Show each text in its turn as one that is being composed, and commit the last one."""
    session: CDPSession = page.context.new_cdp_session(page)
    for text in texts:
        at = {"selectionStart": len(text), "selectionEnd": len(text)}
        session.send("Input.imeSetComposition", {"text": text, **at})
        page.clock.fast_forward(40)
    session.send("Input.insertText", {"text": texts[-1]})


def stop_clock(page: Page) -> None:
    """From now on, time passes on the page only when a test puts its clock forward."""
    page.clock.pause_at(datetime.now() + timedelta(seconds=10))


def type_at_pace(page: Page, text: str, pause: int) -> None:
    """Type the text; by the page's clock, a key takes these milliseconds."""
    page.keyboard.type(text)
    page.clock.fast_forward(pause * len(text))


def type_it(page: Page, field: Locator) -> None:
    type_at_pace(page, SENTENCE, 75)
    page.keyboard.press("Backspace")
    type_at_pace(page, ".", 75)


def let_a_robot_type(page: Page, field: Locator) -> None:
    type_at_pace(page, SENTENCE, 90)


def let_a_robot_hurry(page: Page, field: Locator) -> None:
    type_at_pace(page, SENTENCE, 10)


def write_on_a_phone(page: Page, field: Locator) -> None:
    """Letter by letter in a composition, as Android's keyboards do; two words are completed."""
    for word in SENTENCE.split():
        letters = [word[: n + 1] for n in range(len(word))]
        compose(page, *(letters if word not in {"wooden", "garden."} else [word[:3], word]))
        # As quick as people's thumbs.
        page.clock.fast_forward(100 * len(word))
        if not word.endswith("."):
            page.keyboard.type(" ")


def write_japanese(page: Page, field: Locator) -> None:
    for reading, written in [("ちゃいろの", "茶色の"), ("いぬがはしる", "犬が走る")]:
        compose(page, *(reading[: n + 1] for n in range(len(reading))), written)
    type_at_pace(page, "。" + " dog" * 8, 10)


def dictate_as_composition(page: Page, field: Locator) -> None:
    """The words understood so far, two more each time, at a speaker's pace."""
    words = SENTENCE.split()
    session = page.context.new_cdp_session(page)
    for number in [*range(2, len(words), 2), len(words)]:
        page.clock.fast_forward(700)
        text = " ".join(words[:number])
        at = {"selectionStart": len(text), "selectionEnd": len(text)}
        session.send("Input.imeSetComposition", {"text": text, **at})
    session.send("Input.insertText", {"text": SENTENCE})


def dictate_as_phrase(page: Page, field: Locator) -> None:
    page.clock.fast_forward(3_500)
    page.keyboard.insert_text(SENTENCE)


def correct_spelling(page: Page, field: Locator) -> None:
    type_at_pace(page, SENTENCE.replace("garden", "gardne"), 75)
    field.evaluate("""area => {
        area.setSelectionRange(area.value.length - 7, area.value.length - 1);
        document.execCommand('insertText', false, 'garden');
    }""")


def paste(page: Page, field: Locator) -> None:
    """From another field, so that it was not cut out of this one."""
    field.evaluate(
        """(area, text) => {
            const other = document.body.appendChild(document.createElement('textarea'));
            other.value = text;
            other.select();
            document.execCommand('copy');
            other.remove();
            area.focus();
        }""",
        SENTENCE,
    )
    page.keyboard.press("Control+V")


def move_a_part(page: Page, field: Locator) -> None:
    """Cut out what was typed, paste it elsewhere, and undo something."""
    type_at_pace(page, "in a garden. " + SENTENCE[:-12], 75)
    page.keyboard.press("Home")
    for _ in range(13):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Control+X")
    page.keyboard.press("End")
    page.keyboard.press("Control+V")
    page.keyboard.press("Backspace")


def set_value(page: Page, field: Locator) -> None:
    """As a script or an extension does that writes into the field."""
    field.evaluate("(area, text) => { area.value = text }", SENTENCE)


def set_value_with_event(page: Page, field: Locator) -> None:
    field.evaluate(
        """(area, text) => {
            area.value = text;
            const kind = { inputType: 'insertText', data: text, bubbles: true };
            area.dispatchEvent(new InputEvent('input', kind));
        }""",
        SENTENCE,
    )


INSERT = "(area, text) => document.execCommand('insertText', false, text)"


def insert_by_command(page: Page, field: Locator) -> None:
    field.evaluate(INSERT, SENTENCE)


def insert_by_command_late(page: Page, field: Locator) -> None:
    page.clock.fast_forward(4_000)
    field.evaluate(INSERT, SENTENCE)


def insert_long_by_command_late(page: Page, field: Locator) -> None:
    page.clock.fast_forward(12_000)
    field.evaluate(INSERT, LONG)


def stream_words(page: Page, field: Locator) -> None:
    """As an extension does that shows a model's words as they come."""
    for word in SENTENCE.split():
        field.evaluate(INSERT, f" {word}")
        page.clock.fast_forward(30)


def type_after_pasting(page: Page, field: Locator) -> None:
    paste(page, field)
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    type_at_pace(page, SENTENCE, 75)


CASES: list[tuple[Callable[[Page, Locator], None], dict[str, int], str]] = [
    (type_it, {"typed": ALL}, ""),
    (let_a_robot_type, {"typed": ALL}, ""),
    (let_a_robot_hurry, {"typed": ALL}, "fast_typing"),
    (write_on_a_phone, {"composed": 30, "typed": 11, "completed": 13}, ""),
    (write_japanese, {"composed": 7, "typed": 33}, "fast_typing"),
    (dictate_as_composition, {"dictated": ALL}, ""),
    (dictate_as_phrase, {"dictated": ALL}, ""),
    (correct_spelling, {"typed": 52, "completed": 2}, ""),
    (paste, {"pasted": ALL}, "pasted"),
    (move_a_part, {"typed": ALL}, ""),
    (set_value, {"unaccounted": ALL}, "not_typed"),
    (set_value_with_event, {"unaccounted": ALL}, "not_typed"),
    (insert_by_command, {"inserted": ALL}, "bulk_insertion"),
    (insert_by_command_late, {"dictated": ALL}, ""),
    (insert_long_by_command_late, {"inserted": len(LONG)}, "bulk_insertion"),
    (stream_words, {"completed": ALL + 1}, "fast_typing"),
    (type_after_pasting, {"typed": ALL}, ""),
]


@pytest.mark.parametrize(
    ("write", "characters", "flag"), CASES, ids=[write.__name__ for write, *_ in CASES]
)
def test_each_way_is_told_apart(page, site, marketplace, title, write, characters, flag):
    rules = {"least_words": 1, "most_words": 99}
    campaign = published(tasks=1, hit={"title": title}, captions=rules)
    [worker] = marketplace.fresh_workers(1)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.clock.install()
    frame = accept(page, worker, campaign)
    field = frame.get_by_label("Describe the image in one sentence")

    stop_clock(page)
    field.click()
    write(page, field)
    page.clock.resume()
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("submitted").first).to_be_visible()

    reconcile(campaign)
    response = Response.objects.get()
    of_writing = {"not_typed", "bulk_insertion", "fast_typing", "pasted"}
    found = of_writing.intersection(response.assessment.codes.split())
    assert response.behaviour.characters == characters
    assert " ".join(found) == flag


def test_a_field_that_takes_no_pasted_text_takes_ones_own_words_back(
    page, site, marketplace, title
):
    campaign = published(tasks=1, hit={"title": title}, writing={"refuse_paste": True})
    [worker] = marketplace.fresh_workers(1)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.clock.install()
    frame = accept(page, worker, campaign)
    field = frame.get_by_label("Describe the image in one sentence")

    stop_clock(page)
    field.click()
    paste(page, field)
    expect(frame.get_by_text("This task takes no pasted text.")).to_be_visible()
    expect(field).to_have_value("")
    move_a_part(page, field)
    page.clock.resume()
    expect(frame.get_by_text("This task takes no pasted text.")).to_have_count(0)
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("submitted").first).to_be_visible()

    reconcile(campaign)
    assert Response.objects.get().behaviour.characters == {"typed": ALL}
