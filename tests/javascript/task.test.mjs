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
  const texts = { tooFew: "{count} < {least}", tooMany: "{count} > {most}", enough: "{count}" };

  assert.deepEqual(describeCount(1, 8, 60, texts), { text: "1 < 8", enough: false });
  assert.deepEqual(describeCount(8, 8, 60, texts), { text: "8", enough: true });
  assert.deepEqual(describeCount(61, 8, 60, texts), { text: "61 > 60", enough: false });
});
