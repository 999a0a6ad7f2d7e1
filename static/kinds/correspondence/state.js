// The worker's links so far, and the chosen word and boxes. Every change makes a new state.
// An answer is a field's value: "" (none yet), "box:3 box:8", or a kind such as "scene".

import { boxBelow } from "./geometry.js";

const HISTORY = 200; // steps that can be undone

/** The boxes that an answer names. */
export function boxesIn(answer) {
  return answer.split(" ").filter((part) => part.startsWith("box:"));
}

/** The state of a page as it opens; `boxes` are all boxes' values in the order of their numbers. */
export function start(answers, boxes) {
  return { answers, boxes, words: [], box: null, past: [], future: [] };
}

/** Choose a word. With `extend`, all words from the first chosen one up to it. While a box is
 *  chosen, link the word to that box instead, or unlink it. */
export function chooseWord(state, word, { extend = false } = {}) {
  if (state.box) return link(state, [word], state.box);
  if (extend && state.words.length > 0) return { ...state, words: range(state.words[0], word) };
  const again = state.words.length === 1 && state.words[0] === word;
  return { ...state, words: again ? [] : [word] };
}

/** Choose a box. While words are chosen, link them to it instead, or unlink them. */
export function chooseBox(state, box) {
  if (state.words.length > 0) return link(state, state.words, box);
  return { ...state, box: state.box === box ? null : box };
}

/** Press a place of the image where the boxes `found` lie, the likeliest first. `last` is the box
 *  that the same place gave just before, or null: then the box below it is taken in its stead. */
export function pressPlace(state, found, last) {
  if (last && isTaken(state, last)) {
    const below = boxBelow(found, last);
    return { state: swapBox(state, last, below), box: below };
  }
  if (found.length === 0) return { state, box: null };
  return { state: chooseBox(state, found[0]), box: found[0] };
}

/** Whether a box is the chosen one, or all chosen words refer to it. */
export function isTaken(state, box) {
  if (state.words.length === 0) return state.box === box;
  return state.words.every((word) => boxesIn(state.answers[word]).includes(box));
}

function swapBox(state, from, to) {
  if (state.words.length === 0) return { ...state, box: to };
  const answers = replaced(state, state.words, (answer) => {
    const kept = boxesIn(answer).filter((box) => box !== from);
    return inOrder(state, to ? [...kept, to] : kept);
  });
  return record(state, answers);
}

/** Say of the chosen words why they have no box, or take it back. */
export function chooseKind(state, kind) {
  const all = state.words.every((word) => state.answers[word] === kind);
  return record(state, replaced(state, state.words, () => (all ? "" : kind)));
}

/** Choose nothing. */
export function letGo(state) {
  return { ...state, words: [], box: null };
}

export function undo(state) {
  if (state.past.length === 0) return state;
  const past = state.past.slice(0, -1);
  const future = [state.answers, ...state.future];
  return { ...state, answers: state.past.at(-1), past, future };
}

export function redo(state) {
  if (state.future.length === 0) return state;
  const [answers, ...future] = state.future;
  return { ...state, answers, past: [...state.past, state.answers], future };
}

/** The words among `suggested` that have no answer yet. */
export function toDo(state, suggested) {
  return suggested.filter((word) => !state.answers[word]);
}

/** Choose the next word that has no answer yet, after the one chosen now; from the start again. */
export function chooseNext(state, suggested) {
  const left = toDo(state, suggested);
  const after = Math.max(-1, ...state.words);
  const next = left.find((word) => word > after) ?? left[0];
  return next === undefined ? state : { ...state, box: null, words: [next] };
}

/** Whether a word and the one after it refer to the same boxes, as those of one name do. */
export function isOneName(state, word) {
  const answer = state.answers[word];
  return boxesIn(answer).length > 0 && answer === state.answers[word + 1];
}

function link(state, words, box) {
  const all = words.every((word) => boxesIn(state.answers[word]).includes(box));
  const changed = replaced(state, words, (answer) => {
    const others = boxesIn(answer).filter((other) => other !== box);
    return inOrder(state, all ? others : [...others, box]);
  });
  return record(state, changed);
}

function replaced(state, words, change) {
  return state.answers.map((answer, word) => (words.includes(word) ? change(answer) : answer));
}

function inOrder(state, boxes) {
  return state.boxes.filter((box) => boxes.includes(box)).join(" ");
}

function record(state, answers) {
  if (answers.every((answer, word) => answer === state.answers[word])) return state;
  return { ...state, answers, past: [...state.past, state.answers].slice(-HISTORY), future: [] };
}

function range(from, to) {
  const [first, last] = from < to ? [from, to] : [to, from];
  const words = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  return from < to ? words : words.reverse();
}
