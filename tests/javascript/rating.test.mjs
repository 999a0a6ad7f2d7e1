import assert from "node:assert/strict";
import { test } from "node:test";

import { describeProgress, nextOpen } from "../../static/hits/rating.js";

test("the next question without a rating follows, from the start after the last", () => {
  assert.equal(nextOpen([true, false, true, false], 1), 3);
  assert.equal(nextOpen([false, true, true, true], 2), 0);
  assert.equal(nextOpen([true, false], 1), 1);
  assert.equal(nextOpen([true, true], 0), -1);
});

test("the line says how many questions are left", () => {
  assert.equal(describeProgress([false, false]), "2 questions are left.");
  assert.equal(describeProgress([false, true]), "1 question is left.");
  assert.equal(describeProgress([true, true]), "All questions are answered.");
});
