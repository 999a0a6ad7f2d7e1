import assert from "node:assert/strict";
import { test } from "node:test";

import { pause } from "../../static/hits/sync_progress.js";

test("an answer is asked for every two seconds while they come", () => {
  assert.equal(pause(0), 2000);
});

test("failures make the pauses longer, but never longer than half a minute", () => {
  const pauses = [1, 2, 3, 10].map(pause);

  assert.deepEqual(pauses, [4000, 8000, 16000, 30000]);
});
