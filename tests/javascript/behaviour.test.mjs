import assert from "node:assert/strict";
import { test } from "node:test";

import { Origins, difference, stopwatch, wayOf } from "../../static/hits/behaviour.js";

test("the difference of two texts is what made way for what", () => {
  assert.deepEqual(difference("a dog", "a dark dog"), { start: 3, removed: "", added: "ark d" });
  assert.deepEqual(difference("aaa", "aa"), { start: 2, removed: "a", added: "" });
  assert.deepEqual(difference("teh", "the"), { start: 1, removed: "eh", added: "he" });
});

test("the ways that the browser does not name are told apart by what came at once", () => {
  const way = (inputType, added, { removed = "", seconds = 0 } = {}) =>
    wayOf(inputType, { added, removed }, seconds);
  const sentence = "A dog runs over a lawn.";

  assert.equal(way("insertText", "a"), "typed");
  assert.equal(way("insertText", "🐕"), "typed");
  assert.equal(way("insertLineBreak", "\n"), "typed");
  assert.equal(way("insertCompositionText", "に"), "composed");
  assert.equal(way("insertCompositionText", "今日は", { removed: "きょうは" }), "composed");
  assert.equal(way("insertCompositionText", "king"), "completed");
  assert.equal(way("insertText", "photograph "), "completed");
  assert.equal(way("insertReplacementText", "he", { removed: "eh" }), "replaced");
  assert.equal(way("insertReplacementText", sentence.repeat(3), { removed: "x" }), "inserted");
  assert.equal(way("insertText", sentence, { seconds: 2 }), "dictated");
  assert.equal(way("insertCompositionText", " dog runs", { seconds: 2 }), "dictated");
  assert.equal(way("insertText", sentence, { seconds: 0.5 }), "inserted");
  assert.equal(way("insertText", sentence.repeat(20), { seconds: 600 }), "inserted");
  assert.equal(way("insertFromPaste", "a"), "pasted");
  assert.equal(way("insertFromDrop", sentence), "dropped");
  assert.equal(way("", sentence), "inserted");
});

test("the counts are of the characters that are left", () => {
  const origins = new Origins();
  origins.note("A dog", () => "pasted");
  origins.note("A doge", () => "typed");
  origins.note("A e", () => assert.fail("nothing was added"));
  origins.note("A cat e", () => "unaccounted");

  assert.deepEqual(origins.counts(), { pasted: 2, unaccounted: 4, typed: 1 });
});

test("what is cut out and comes back keeps its ways", () => {
  const origins = new Origins();
  for (const text of ["a", "ab", "abc"]) origins.note(text, () => "typed");
  origins.note("abcde", () => "completed");
  for (const text of ["abcd", "abc", "ab"]) origins.note(text);
  origins.note("abcde", () => "unknown");

  assert.deepEqual(origins.counts(), { typed: 3, completed: 2 });
  origins.note("abcdecd", () => "pasted");
  assert.deepEqual(origins.counts(), { typed: 3, completed: 2, pasted: 2 });
});

test("a text that is filled in again has the counts that were kept with it", () => {
  const origins = new Origins("A dog runs", "unknown", { typed: 3, pasted: 5 });
  origins.note("A dog runs.", () => "typed");

  assert.deepEqual(origins.counts(), { typed: 4, pasted: 5, unknown: 2 });
  assert.deepEqual(new Origins("ab", "given", { typed: 9 }).counts(), { typed: 2 });
  assert.deepEqual(new Origins("ab", "given").counts(), { given: 2 });
});

test("the stopwatch adds up what lies between its starts and stops", () => {
  let now = 0;
  const watch = stopwatch(() => now);
  watch.start();
  now = 1500;
  watch.start(); // once more, while it runs
  now = 2000;
  watch.stop();
  now = 9000;
  watch.stop();
  watch.start();
  now = 10250;

  assert.equal(watch.seconds(), 3.3);
});
