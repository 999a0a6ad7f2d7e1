import assert from "node:assert/strict";
import { test } from "node:test";

import { describeProgress, nextOpen } from "../../static/kinds/scales.js";

test("the next question without a rating follows, from the start after the last", () => {
  assert.equal(nextOpen([true, false, true, false], 1), 3);
  assert.equal(nextOpen([false, true, true, true], 2), 0);
  assert.equal(nextOpen([true, false], 1), 1);
  assert.equal(nextOpen([true, true], 0), -1);
});

const texts = {
  questionsLeft: { one: "{count} question is left.", other: "{count} questions are left." },
  allAnswered: "All questions are answered.",
};

test("the line says how many questions are left", () => {
  assert.equal(describeProgress([false, false], texts, "en"), "2 questions are left.");
  assert.equal(describeProgress([false, true], texts, "en"), "1 question is left.");
  assert.equal(describeProgress([true, true], texts, "en"), "All questions are answered.");
});
