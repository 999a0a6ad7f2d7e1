// Rating captions by keyboard: a digit rates the question that has the focus and goes on to the next
// one without a rating. Without the script, the radio buttons work as they are.

import { latinKey } from "./keyboard.js";
import { filled, pageTexts, plural } from "./texts.js";

/** The index of the first question without a rating after `index`, from the start after the last;
 *  -1 if all are rated. */
export function nextOpen(rated, index) {
  const order = [...rated.keys()].map((step) => (index + 1 + step) % rated.length);
  return order.find((place) => !rated[place]) ?? -1;
}

/** What the line under the questions says. */
export function describeProgress(rated, texts, language) {
  const count = rated.filter((is) => !is).length;
  if (count === 0) return texts.allAnswered;
  return filled(plural(texts.questionsLeft, count, language), { count });
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

  task.querySelector("[data-keys]").hidden = false;
  task.addEventListener("change", update);
  task.form.addEventListener("restored", update);
  task.addEventListener("keydown", (event) => {
    const index = questions.findIndex((question) => question.contains(event.target));
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
