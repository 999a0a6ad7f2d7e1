import assert from "node:assert/strict";
import { test } from "node:test";

import { Counted, inTurn, pause, recorded, ReviewPage } from "../../static/qualcontrol/review_ahead.js";

const atOnce = async () => {};

test("jobs run one after another, in the order in which they were added", async () => {
  const done = [];
  const add = inTurn(atOnce);
  const job = (name, milliseconds) => () =>
    new Promise((resolve) => {
      setTimeout(() => resolve(done.push(name)), milliseconds);
    });

  await Promise.all([add(job("slow", 20)), add(job("quick", 0)), add(job("last", 5))]);

  assert.deepEqual(done, ["slow", "quick", "last"]);
});

test("a job that fails is run again before the next one begins", async () => {
  const runs = [];
  const failures = [];
  const add = inTurn(async (count) => failures.push(count));
  const failing = async () => {
    runs.push("failing");
    if (runs.length < 3) throw new Error("no answer");
    return "saved";
  };

  const [first, second] = await Promise.all([add(failing), add(async () => runs.push("next"))]);

  assert.equal(first, "saved");
  assert.equal(second, 4);
  assert.deepEqual(runs, ["failing", "failing", "failing", "next"]);
  assert.deepEqual(failures, [1, 2]);
});

test("the pause grows with the failures, up to ten seconds", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 99].map(pause), [1000, 2000, 5000, 10000, 10000, 10000]);
});

test("the status line says what was recorded", () => {
  assert.equal(recorded("GOOD"), "Judged good.");
  assert.equal(recorded("BAD", "too vague"), "Judged bad: too vague.");
});

test("a key that was added twice stays until it is removed twice", () => {
  const unsaved = new Counted();
  unsaved.add("first");
  unsaved.add("first");
  unsaved.add("other");

  unsaved.remove("first");
  assert.deepEqual(unsaved.keys, ["first", "other"]);
  unsaved.remove("first");
  unsaved.remove("first");

  assert.deepEqual(unsaved.keys, ["other"]);
  assert.equal(unsaved.has("first"), false);
});

test("the page is loaded anew where forward leads past the last caption", () => {
  const judged = { dataset: { verdict: "GOOD" } };
  const page = Object.create(ReviewPage.prototype, {
    shown: { value: judged, writable: true },
    past: { value: [] },
    unsaved: { value: new Counted() },
    show: { value: () => (page.shown = null) },
  });
  let times = 0;
  globalThis.location = { reload: () => (times += 1) };

  page.unsaved.add("on the way");
  page.forward();
  assert.equal(times, 0);

  page.unsaved.remove("on the way");
  page.shown = judged;
  page.forward();
  assert.equal(times, 1);
});
