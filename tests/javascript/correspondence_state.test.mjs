import assert from "node:assert/strict";
import { test } from "node:test";

import {
  chooseBox,
  chooseKind,
  chooseNext,
  chooseWord,
  isOneName,
  isTaken,
  letGo,
  pressPlace,
  redo,
  start,
  toDo,
  undo,
} from "../../static/kinds/correspondence/state.js";

const BOXES = ["box:7", "box:9", "box:4"]; // numbers 1, 2 and 3

const opened = (answers = ["", "", "", ""]) => start(answers, BOXES);

test("a word, then its boxes, which stand in the order of their numbers", () => {
  let state = chooseWord(opened(), 1);

  state = chooseBox(chooseBox(state, "box:4"), "box:7");

  assert.deepEqual(state.answers, ["", "box:7 box:4", "", ""]);
});

test("a box, then its words", () => {
  let state = chooseBox(opened(), "box:9");

  state = chooseWord(chooseWord(state, 0), 3);

  assert.deepEqual(state.answers, ["box:9", "", "", "box:9"]);
  assert.equal(state.box, "box:9");
});

test("what is pressed again is undone", () => {
  const linked = chooseBox(chooseWord(opened(), 0), "box:7");

  assert.equal(chooseBox(linked, "box:7").answers[0], "");
  assert.deepEqual(chooseWord(linked, 0).words, []);
  assert.equal(chooseBox(chooseBox(opened(), "box:7"), "box:7").box, null);
  assert.equal(chooseKind(chooseKind(linked, "scene"), "scene").answers[0], "");
});

test("a kind takes the place of boxes, and a box that of a kind", () => {
  const linked = chooseBox(chooseWord(opened(), 0), "box:7");

  const scene = chooseKind(linked, "scene");

  assert.equal(scene.answers[0], "scene");
  assert.equal(chooseBox(scene, "box:9").answers[0], "box:9");
});

test("several words are chosen from the first to the last, either way", () => {
  const forwards = chooseWord(chooseWord(opened(), 0), 2, { extend: true });
  const backwards = chooseWord(chooseWord(opened(), 3), 1, { extend: true });

  assert.deepEqual(forwards.words, [0, 1, 2]);
  assert.deepEqual(backwards.words, [3, 2, 1]);
  assert.deepEqual(chooseWord(backwards, 2, { extend: true }).words, [3, 2]);
  assert.deepEqual(chooseWord(opened(), 2, { extend: true }).words, [2]);
});

test("several words get a box together, and lose it together", () => {
  let state = chooseBox(chooseWord(opened(), 1), "box:7");
  state = chooseWord(state, 2, { extend: true });

  const both = chooseBox(state, "box:7");

  assert.deepEqual(both.answers, ["", "box:7", "box:7", ""]);
  assert.deepEqual(chooseBox(both, "box:7").answers, ["", "", "", ""]);
});

test("neighbouring words with the same boxes are one name", () => {
  const state = opened(["box:7", "box:7", "box:9", "scene"]);

  assert.deepEqual([0, 1, 2, 3].map((word) => isOneName(state, word)), [true, false, false, false]);
  assert.ok(!isOneName(opened(["scene", "scene"]), 0));
});

test("undo and redo go through the answers, and a change forgets what was undone", () => {
  let state = chooseWord(opened(), 0);
  state = chooseKind(chooseBox(state, "box:7"), "scene");

  const back = undo(undo(state));

  assert.equal(back.answers[0], "");
  assert.equal(redo(back).answers[0], "box:7");
  assert.equal(redo(redo(back)).answers[0], "scene");
  assert.equal(redo(chooseBox(undo(state), "box:9")).answers[0], "box:7 box:9");
});

test("undo and redo at their ends change nothing", () => {
  const state = opened(["scene", ""]);

  assert.equal(undo(state), state);
  assert.equal(redo(state), state);
});

test("a choice is no step of its own", () => {
  const state = letGo(chooseWord(chooseBox(opened(), "box:7"), 0));

  assert.equal(letGo(chooseWord(state, 2)).past.length, 1);
});

test("a kind without a chosen word changes nothing", () => {
  const state = chooseKind(opened(), "scene");

  assert.deepEqual(state, opened());
});

test("no state is changed in place", () => {
  const state = chooseWord(opened(), 0);
  const before = structuredClone(state);

  undo(chooseKind(chooseBox(state, "box:7"), "scene"));

  assert.deepEqual(state, before);
});

test("the same place pressed again gives the box below, and after the last none", () => {
  const found = ["box:9", "box:4"];
  const state = chooseWord(opened(["box:7", ""]), 0);

  const first = pressPlace(state, found, null);
  const second = pressPlace(first.state, found, first.box);
  const third = pressPlace(second.state, found, second.box);

  assert.equal(first.state.answers[0], "box:7 box:9");
  assert.equal(second.state.answers[0], "box:7 box:4");
  assert.equal(third.state.answers[0], "box:7");
  assert.equal(third.box, null);
});

test("a place pressed for another word starts with the first box again", () => {
  const found = ["box:9", "box:4"];
  const first = pressPlace(chooseWord(opened(), 0), found, null);

  const other = pressPlace(chooseWord(first.state, 1), found, first.box);

  assert.deepEqual(other.state.answers.slice(0, 2), ["box:9", "box:9"]);
});

test("a place without a box changes nothing", () => {
  const state = chooseWord(opened(), 0);

  assert.deepEqual(pressPlace(state, [], null), { state, box: null });
});

test("pressing a place goes through its boxes while no word is chosen, too", () => {
  const first = pressPlace(opened(), ["box:9", "box:4"], null);
  const second = pressPlace(first.state, ["box:9", "box:4"], first.box);

  assert.equal(first.state.box, "box:9");
  assert.equal(second.state.box, "box:4");
  assert.ok(isTaken(second.state, "box:4"));
});

test("the next word is the next without an answer, from the start again after the last", () => {
  const suggested = [0, 2, 3];
  const state = chooseWord(opened(["", "", "scene", ""]), 0);

  assert.deepEqual(toDo(state, suggested), [0, 3]);
  assert.deepEqual(chooseNext(state, suggested).words, [3]);
  assert.deepEqual(chooseNext(chooseNext(state, suggested), suggested).words, [0]);
  assert.deepEqual(chooseNext(state, []), state);
});
