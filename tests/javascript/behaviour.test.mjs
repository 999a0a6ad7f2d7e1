import assert from "node:assert/strict";
import { test } from "node:test";

import { carriedIn, countsBefore, edited, nothing, stopwatch } from "../../static/hits/behaviour.js";

test("edits are counted, and pastes only as pastes", () => {
  const counts = nothing();
  for (const kind of ["insertText", "insertCompositionText", "deleteContentBackward"]) {
    edited(counts, kind);
  }
  edited(counts, "insertFromPaste");
  carriedIn(counts, 40);
  edited(counts, "insertFromDrop");
  carriedIn(counts, 2);

  assert.deepEqual(counts, { ...nothing(), keystrokes: 3, pastes: 2, pasted_characters: 42 });
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

test("a page that is filled again goes on counting", () => {
  const counts = countsBefore('{"keystrokes": 40, "seconds_writing": 12.5}');
  edited(counts, "insertText");
  let now = 0;
  const watch = stopwatch(() => now, counts.seconds_writing);
  watch.start();
  now = 500;

  assert.equal(counts.keystrokes, 41);
  assert.equal(watch.seconds(), 13);
  assert.deepEqual(countsBefore(undefined), nothing());
});
