import assert from "node:assert/strict";
import { test } from "node:test";

import { leftByKeyboard, listeners, windowHeight } from "../../static/hits/fit.js";
import { originOf } from "../../static/marketplace/drafts.js";
import { frameHeight } from "../../static/marketplace/task.js";

test("only the pages around the task hear its height, where the browser names them", () => {
  const allowed = ["https://worker.example", "https://www.example"];
  assert.deepEqual(listeners(allowed, ["https://www.example"]), ["https://www.example"]);
  assert.deepEqual(listeners(allowed, ["https://other.example"]), []);
  assert.deepEqual(listeners(allowed, undefined), allowed);
});

test("the window's height is a positive number within reason", () => {
  const told = (height) => windowHeight({ type: "marketplace:window", height });
  assert.equal(told(844), 844);
  assert.equal(told(1e9), 10_000);
  for (const odd of [0, -1, NaN, Infinity, "844", null, undefined]) assert.equal(told(odd), null);
  for (const other of [null, undefined, "marketplace:window", { height: 844 }, 7]) {
    assert.equal(windowHeight(other), null);
  }
});

test("the frame's height is a number within reason", () => {
  const told = (height) => frameHeight({ type: "marketplace:height", height });
  assert.equal(told(1200.2), 1201);
  assert.equal(told(0), 200);
  assert.equal(told(1e9), 30_000);
  for (const odd of [NaN, Infinity, "1200", null, undefined, {}]) assert.equal(told(odd), null);
  for (const other of [null, "marketplace:submitted", { height: 1200 }]) {
    assert.equal(frameHeight(other), null);
  }
});

test("a sandboxed page without an origin of its own has the origin null", () => {
  assert.equal(originOf("https://lab.example/task/?a=1", "allow-scripts allow-same-origin"),
    "https://lab.example");
  assert.equal(originOf("https://lab.example/task/", "allow-scripts"), "null");
});

test("a keyboard is what takes more than a quarter of the window", () => {
  assert.equal(leftByKeyboard({ height: 844, visible: 420 }), 420);
  assert.equal(leftByKeyboard({ height: 844, visible: 780 }), null);
  assert.equal(leftByKeyboard({ height: 844 }), null);
});
