import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { countWords, describeCount, wordsOf } from "../../static/hits/task.js";

const shared = JSON.parse(readFileSync(new URL("../words.json", import.meta.url)));

for (const { text, words } of shared) {
  test(`the words of ${JSON.stringify(text)} are those that the server counts`, () => {
    assert.deepEqual(wordsOf(text).map((word) => word.normalize()), words);
    assert.equal(countWords(text), words.length);
  });
}

test("the counter says what is missing", () => {
  assert.deepEqual(describeCount(1, 8, 60), { text: "1 word; write at least 8.", enough: false });
  assert.deepEqual(describeCount(8, 8, 60), { text: "8 words", enough: true });
  assert.deepEqual(describeCount(61, 8, 60), { text: "61 words; write at most 60.", enough: false });
});
