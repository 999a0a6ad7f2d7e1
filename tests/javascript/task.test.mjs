import assert from "node:assert/strict";
import { test } from "node:test";

import { countWords, describeCount } from "../../static/hits/task.js";

test("words are what holds a letter or a digit", () => {
  assert.equal(countWords("  A dog — and 2 cats,\nnaïvely… "), 6);
  assert.equal(countWords("  — … "), 0);
  assert.equal(countWords("собака 犬 كلب"), 3);
});

test("the counter says what is missing", () => {
  assert.deepEqual(describeCount(1, 8, 60), { text: "1 word; at least 8.", enough: false });
  assert.deepEqual(describeCount(8, 8, 60), { text: "8 words", enough: true });
  assert.deepEqual(describeCount(61, 8, 60), { text: "61 words; at most 60.", enough: false });
});
