import assert from "node:assert/strict";
import { test } from "node:test";

import { reload } from "../../static/hits/new_campaign.js";

/** A frame in a list of frames, with what `reload` uses of an element. */
function frameIn(page) {
  const names = new Set();
  const listeners = [];
  const frame = {
    classList: { add: (name) => names.add(name), remove: (name) => names.delete(name) },
    isLoading: () => names.has("loading"),
    cloneNode: () => frameIn(page),
    addEventListener: (_type, listener) => listeners.push(listener),
    after: (next) => page.splice(page.indexOf(frame) + 1, 0, next),
    remove: () => page.splice(page.indexOf(frame), 1),
    load: () => listeners.forEach((listener) => listener()),
  };
  return frame;
}

test("a frame stays until the one that takes its place is loaded", () => {
  const page = [];
  const [before, after] = [frameIn(page), frameIn(page)];
  page.push(before, after);

  reload([...page]);

  const [, next, , second] = page;
  assert.deepEqual(page, [before, next, after, second]);
  assert.ok(next.isLoading() && second.isLoading());
  next.load();
  assert.deepEqual(page, [next, after, second]);
  assert.ok(!next.isLoading() && second.isLoading());
});
