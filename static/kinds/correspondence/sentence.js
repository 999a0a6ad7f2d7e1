// The caption as a row of buttons, one for each word.

import { mountRow } from "./keys.js";
import { boxesIn, isOneName } from "./state.js";
import { describe } from "./words.js";

/** Make the words buttons; `choose(word, { extend })` is called for a press. Returns what shows a
 *  state, and what moves the focus to a word. */
export function mountSentence(page, choose) {
  const row = page.task.querySelector("[data-sentence]");
  row.setAttribute("role", "toolbar");
  const buttons = page.words.map((word, place) => wordButton(word, place, choose));
  page.words.forEach((word, place) => word.element.replaceWith(buttons[place]));

  mountRow(row, buttons, page.suggested[0] ?? 0, (word, { shiftKey }) => {
    choose(word, { extend: shiftKey, byArrow: true });
  });
  return {
    focus: (word) => buttons[word].focus(),
    show: (state) => buttons.forEach((button, word) => showWord(page, state, word, button)),
  };
}

function wordButton(word, place, choose) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "word" });
  button.classList.toggle("suggested", word.isSuggested);
  button.addEventListener("click", (event) => choose(place, { extend: event.shiftKey }));
  return button;
}

function showWord(page, state, word, button) {
  const answer = state.answers[word];
  const isChosen = state.box ? boxesIn(answer).includes(state.box) : state.words.includes(word);
  button.setAttribute("aria-pressed", isChosen);
  button.classList.toggle("done", answer !== "");
  button.classList.toggle("one-name", isOneName(state, word));
  const { text, isSuggested } = page.words[word];
  button.replaceChildren(text, ...marks(page, answer, isSuggested));
}

/** The marks under a word: its boxes' numbers or its kind, and a text for screen readers. */
function marks(page, answer, isSuggested) {
  const shown = boxesIn(answer).map((value) => numberChip(page, value));
  if (answer && shown.length === 0) shown.push(span("kind", page.texts[answer] ?? answer));
  if (!answer && isSuggested) shown.push(span("to-do", ""));
  const marks = span("marks", "");
  marks.setAttribute("aria-hidden", "true");
  marks.append(...shown);
  const said = describe(answer, page) || (isSuggested ? page.texts.toDo : "");
  return said ? [marks, span("visually-hidden", `(${said})`)] : [marks];
}

function numberChip(page, value) {
  const box = page.boxes.find((other) => other.value === value);
  const chip = span("chip", `${box.number}`);
  chip.dataset.tone = box.outline.dataset.tone;
  return chip;
}

function span(className, text) {
  return Object.assign(document.createElement("span"), { className, textContent: text });
}
