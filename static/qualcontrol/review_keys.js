// Single keys on the review page: g good, b bad and then a number for the reason, a number and then
// Enter likewise, s skip, o asks for a second opinion, z takes the last verdict back, and the arrows
// go back to earlier captions and forward again.
// The page's forms work without it; a key only does what a click on the same control does.

const KEYS = new Map([["g", "good"], ["b", "choose"], ["s", "skip"], ["z", "undo"], ["o", "ask"],
  ["arrowleft", "back"], ["arrowright", "forward"]]);
const HEADER = new Map([["back", "[data-review-back]"], ["forward", "[data-review-forward]"],
  ["undo", "[data-review-undo]:not([hidden]) button"]]);
const TEXT_FIELDS = ["text", "search", "email", "number", "password", "url"];

/** Whether a key typed at this element is text that somebody writes. */
export function isTyping({ tagName, type, isContentEditable }) {
  if (isContentEditable || tagName === "TEXTAREA" || tagName === "SELECT") return true;
  return tagName === "INPUT" && TEXT_FIELDS.includes(type);
}

/**
 * The meaning of a key: "good", "skip", "ask", "choose" (show the reasons), "cancel", "undo", "back",
 * "forward", {reason: index}, {mark: index}, or null. While a reason is chosen, the arrows move
 * among the reasons. A number gives the verdict only after "b" (`atOnce`); otherwise it marks the
 * reason and waits for Enter, so that a slip of the hand discards nothing.
 */
export function meaning(key, { choosing, atOnce = choosing, reasons }) {
  const number = Number.parseInt(key, 10);
  if (number >= 1 && number <= reasons) return { [atOnce ? "reason" : "mark"]: number - 1 };
  if (choosing && key === "Escape") return "cancel";
  if (choosing && key.startsWith("Arrow")) return null;
  return KEYS.get(key.toLowerCase()) ?? null;
}

function act(review, what) {
  if (HEADER.has(what)) {
    document.querySelector(HEADER.get(what))?.click();
    return;
  }
  const fieldset = review.querySelector("[data-review-reasons]");
  const radios = fieldset.querySelectorAll("input[type=radio]");
  if (what === "good") review.querySelector("[data-review-good]").click();
  else if (what === "skip") review.querySelector("[data-review-skip]").click();
  else if (what === "ask") {
    review.querySelector("[data-review-ask]")?.setAttribute("open", "");
    review.querySelector("[data-review-ask] input[type=text]")?.focus();
  } else if (what === "cancel") {
    delete review.dataset.choosing;
    radios[0].form.reset();
    document.activeElement?.blur();
  } else if (what === "choose") {
    review.dataset.choosing = "at-once";
    radios[0].focus();
  } else {
    const radio = radios[what.reason ?? what.mark];
    review.dataset.choosing ??= "";
    radio.checked = true;
    keepOtherInStep(fieldset, { isTyped: false });
    if (radio === [...radios].at(-1)) fieldset.querySelector("input[type=text]").focus();
    else if ("mark" in what) radio.focus();
    else radio.form.requestSubmit();
  }
}

/** A reason in words is asked for where the last choice is made, and writing one makes it. */
function keepOtherInStep(fieldset, { isTyped }) {
  const [text] = fieldset.querySelectorAll("input[type=text]");
  const other = [...fieldset.querySelectorAll("input[type=radio]")].at(-1);
  if (isTyped) other.checked = true;
  text.required = other.checked;
}

function listen() {
  document.addEventListener("keydown", (event) => {
    const review = document.querySelector("[data-review]");
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const isLeaving = event.key === "Escape" && event.target.closest("[data-review-reasons]");
    if (isTyping(event.target) && !isLeaving) return;
    if (event.target.type === "radio" && event.key.startsWith("Arrow")) return;
    const choice = review?.dataset.choosing;
    const what = meaning(event.key, {
      choosing: choice !== undefined,
      atOnce: choice === "at-once",
      reasons: review?.querySelectorAll("[data-review-reasons] input[type=radio]").length ?? 0,
    });
    // The page without a caption has the keys of the header alone.
    if (what === null || (!review && !HEADER.has(what))) return;
    event.preventDefault();
    performance.clearMarks("review-key");
    performance.mark("review-key", { startTime: event.timeStamp });
    act(review, what);
  });
  document.addEventListener("input", ({ target }) => {
    const fieldset = target.closest("[data-review-reasons]");
    if (fieldset) keepOtherInStep(fieldset, { isTyped: target.type === "text" });
  });
}

if (globalThis.document) listen();
