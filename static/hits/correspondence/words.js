// How a state is said: on the page, and by a screen reader.

import { boxesIn, toDo } from "./state.js";

/** What a word was given: "box 2, Dress", "the scene as a whole", or an empty string. */
export function describe(answer, page) {
  const boxes = boxesIn(answer).map((value) => nameOf(page, value));
  if (boxes.length > 0) return boxes.join(" and ");
  return page.kinds.find((kind) => kind.value === answer)?.label ?? "";
}

/** A box's number and name: "box 2, Dress". */
export function nameOf(page, value) {
  const box = page.boxes.find((other) => other.value === value);
  return `box ${box.number}, ${box.label}`;
}

/** Words as they are quoted: “hot dog”. */
export function quote(words, page) {
  const inTurn = [...words].sort((a, b) => a - b);
  return `“${inTurn.map((word) => page.words[word].text).join(" ")}”`;
}

/** What to do next, given what is chosen. */
export function prompt(state, page) {
  if (state.words.length > 0) {
    return `Which boxes show ${quote(state.words, page)}?`;
  }
  if (state.box) return `Which words name ${nameOf(page, state.box)}?`;
  return "Choose a word or a box.";
}

/** How far the worker is: "4 of 6 words"; empty if no word is marked. */
export function progress(state, page) {
  const total = page.suggested.length;
  if (total === 0) return "";
  const done = total - toDo(state, page.suggested).length;
  return `${done} of ${total} ${total === 1 ? "word" : "words"}`;
}

/** What a change did, for those who do not see it; empty if no answer changed. */
export function report(before, after, page) {
  const places = [...page.words.keys()];
  const words = places.filter((word) => before.answers[word] !== after.answers[word]);
  if (words.length === 0) return "";
  const said = words.map((word) => {
    return `${quote([word], page)}: ${describe(after.answers[word], page) || "no choice"}`;
  });
  return [...said, progress(after, page)].filter(Boolean).map((text) => `${text}.`).join(" ");
}

/** What keeps the answer from being sent; empty if nothing does. */
export function missing(state, page) {
  const left = toDo(state, page.suggested);
  if (left.length === 0) return "";
  const words = left.map((word) => quote([word], page)).join(", ");
  return `Please choose a box for ${words}, or say why no box fits.`;
}
