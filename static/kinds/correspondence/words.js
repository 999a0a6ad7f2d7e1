// How a state is said: on the page, and by a screen reader, in the language of the page.

import { filled } from "../texts.js";
import { boxesIn, toDo } from "./state.js";

/** The answer to a word: "box 2, Dress", "the scene as a whole", or an empty string. */
export function describe(answer, page) {
  const boxes = boxesIn(answer).map((value) => nameOf(page, value));
  if (boxes.length > 0) {
    return boxes.reduce((one, other) => filled(page.texts.and, { one, other }));
  }
  return page.kinds.find((kind) => kind.value === answer)?.label ?? "";
}

/** A box's number and name: "box 2, Dress". */
export function nameOf(page, value) {
  const { number, label } = page.boxes.find((other) => other.value === value);
  return filled(page.texts.box, { number, label });
}

/** Words as they are quoted: “hot dog”. */
export function quote(words, page) {
  const inTurn = [...words].sort((a, b) => a - b);
  const text = inTurn.map((word) => page.words[word].text).join(page.gap);
  return filled(page.texts.quoted, { words: text });
}

/** The next step, given the chosen word and box. */
export function prompt(state, page) {
  if (state.words.length > 0) {
    return filled(page.texts.whichBoxes, { words: quote(state.words, page) });
  }
  if (state.box) return filled(page.texts.whichWords, { box: nameOf(page, state.box) });
  return page.texts.choose;
}

/** How far the worker is: "4 of 6 words"; empty if no word is marked. */
export function progress(state, page) {
  const total = page.suggested.length;
  if (total === 0) return "";
  return filled(page.progress, { done: total - toDo(state, page.suggested).length, total });
}

/** The effect of a change, for screen readers; empty if no answer changed. */
export function report(before, after, page) {
  const places = [...page.words.keys()];
  const words = places.filter((word) => before.answers[word] !== after.answers[word]);
  if (words.length === 0) return "";
  const said = words.map((word) => {
    const answer = describe(after.answers[word], page) || page.texts.noChoice;
    return filled(page.texts.answer, { words: quote([word], page), answer });
  });
  const done = progress(after, page);
  if (done) said.push(filled(page.texts.progress, { progress: done }));
  return said.join(" ");
}

/** The reason why the answer cannot be sent; empty if it can. */
export function missing(state, page) {
  const left = toDo(state, page.suggested);
  if (left.length === 0) return "";
  const words = left.map((word) => quote([word], page)).join(page.texts.comma);
  return filled(page.texts.missing, { words });
}
