import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { countWords, describeCount, normalised, wordsOf } from "../../static/hits/task.js";

const shared = JSON.parse(readFileSync(new URL("../words.json", import.meta.url)));

for (const { text, words } of shared) {
  test(`the words of ${JSON.stringify(text)} are those that the server counts`, () => {
    assert.deepEqual(wordsOf(text).map((word) => word.normalize()), words);
    assert.equal(countWords(text), words.length);
  });
}

test("signs before digits and letters are visible, and kept", () => {
  const signs = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}";

  assert.equal(normalised(`${signs}١\u200b`), `${signs}١`);
});

test("the counter says what is missing", () => {
  const limits = { least: 8, most: 60, target: 0 };
  const texts = {
    tooFew: "{count} < {least}",
    tooMany: "{count} > {most}",
    enough: "{count}",
    ofTarget: "{count} of {target}",
  };

  assert.deepEqual(describeCount(1, limits, texts), { text: "1 < 8", enough: false });
  assert.deepEqual(describeCount(8, limits, texts), { text: "8", enough: true });
  assert.deepEqual(describeCount(61, limits, texts), { text: "61 > 60", enough: false });
  const aimed = { ...limits, target: 40 };
  assert.deepEqual(describeCount(9, aimed, texts), { text: "9 of 40", enough: true });
});
