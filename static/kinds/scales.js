// Rating captions by keyboard: a digit rates the question that has the focus, or the first one without
// a rating, and moves to the next one without. Without the script, the radio buttons work as they
// are.

import { latinKey } from "./keyboard.js";
import { filled, pageTexts, plural } from "./texts.js";

// Fields that take digits as text.
const WRITTEN = "textarea, select, input:not([type=radio], [type=checkbox])";

/** The index of the first question without a rating after `index`, from the start after the last;
 *  -1 if all are rated. */
export function nextOpen(rated, index) {
  const order = [...rated.keys()].map((step) => (index + 1 + step) % rated.length);
  return order.find((place) => !rated[place]) ?? -1;
}

/** The text of the line under the questions. */
export function describeProgress(rated, texts, language) {
  const count = rated.filter((is) => !is).length;
  if (count === 0) return texts.allAnswered;
  return filled(plural(texts.questionsLeft, count, language), { count });
}

/** Make the words of a caption one stop of the Tab key; the arrow keys go from word to word. */
function mountMarks(group) {
  const words = [...group.querySelectorAll("[type=checkbox]")];
  const isReversed = getComputedStyle(group.querySelector("blockquote")).direction === "rtl";
  const steps = { ArrowLeft: isReversed ? 1 : -1, ArrowRight: isReversed ? -1 : 1 };
  words.slice(1).forEach((word) => (word.tabIndex = -1));
  group.addEventListener("focusin", ({ target }) => {
    for (const word of words) word.tabIndex = word === target ? 0 : -1;
  });
  group.addEventListener("keydown", (event) => {
    const next = words[words.indexOf(event.target) + steps[event.key]];
    if (!next || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    next.focus();
  });
}

function mount(task) {
  const texts = pageTexts();
  const questions = [...task.querySelectorAll("[data-question]")];
  const chosen = (question) => question.querySelector(":checked");
  const rated = () => questions.map((question) => chosen(question) !== null);
  const progress = task.querySelector("[data-progress]");
  const update = () => {
    progress.value = describeProgress(rated(), texts);
  };

  task.querySelectorAll("[data-marks]").forEach(mountMarks);
  task.querySelector("[data-keys]").hidden = false;
  task.addEventListener("change", update);
  task.form.addEventListener("restored", update);
  document.addEventListener("keydown", (event) => {
    const within = event.target.closest("[data-rating]");
    // A key that is held would rate the next questions, too.
    if (event.repeat || event.defaultPrevented || event.target.matches(WRITTEN) || (within ?? task) !== task) return;
    const focused = questions.findIndex((question) => question.contains(event.target));
    const index = focused < 0 ? nextOpen(rated(), -1) : focused;
    const option = questions[index]?.querySelector(`[value="${CSS.escape(latinKey(event))}"]`);
    if (!option || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    option.checked = true;
    option.dispatchEvent(new Event("change", { bubbles: true }));
    const next = questions[nextOpen(rated(), index)];
    (next?.querySelector("input") ?? option).focus();
  });
  update();
}

if (globalThis.document) document.querySelectorAll("[data-rating]:not([disabled])").forEach(mount);
