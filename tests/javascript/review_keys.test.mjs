import assert from "node:assert/strict";
import { test } from "node:test";

import { isTyping, meaning } from "../../static/qualcontrol/review_keys.js";

const looking = { choosing: false, reasons: 6 };
const choosing = { choosing: true, reasons: 6 };

test("g, b and s mean good, choose a reason, and skip, in either case", () => {
  assert.equal(meaning("g", looking), "good");
  assert.equal(meaning("B", looking), "choose");
  assert.equal(meaning("s", looking), "skip");
});

test("a number marks a reason, and gives the verdict only after b", () => {
  assert.deepEqual(meaning("1", looking), { mark: 0 });
  assert.deepEqual(meaning("2", { ...choosing, atOnce: false }), { mark: 1 });
  assert.deepEqual(meaning("1", choosing), { reason: 0 });
  assert.deepEqual(meaning("6", choosing), { reason: 5 });
});

test("a number beyond the reasons means nothing", () => {
  for (const key of ["0", "7", "-1"]) assert.equal(meaning(key, choosing), null);
});

test("escape leaves the choice, and means nothing outside it", () => {
  assert.equal(meaning("Escape", choosing), "cancel");
  assert.equal(meaning("Escape", looking), null);
});

test("other keys mean nothing", () => {
  for (const key of ["x", "Enter", " ", "Tab", "ArrowDown", "F5", "constructor", "toString"]) {
    assert.equal(meaning(key, looking), null);
  }
});

test("keys typed into text are text, and those on radio buttons and links are not", () => {
  assert.ok(isTyping({ tagName: "INPUT", type: "text" }));
  assert.ok(isTyping({ tagName: "TEXTAREA" }));
  assert.ok(isTyping({ tagName: "DIV", isContentEditable: true }));
  assert.ok(!isTyping({ tagName: "INPUT", type: "radio" }));
  assert.ok(!isTyping({ tagName: "A" }));
  assert.ok(!isTyping({ tagName: "BODY" }));
});

test("z takes back, and the arrows go back and forward unless a reason is chosen", () => {
  const keys = ["z", "Z", "ArrowLeft", "ArrowRight"];

  assert.deepEqual(
    keys.map((key) => meaning(key, { choosing: false, reasons: 6 })),
    ["undo", "undo", "back", "forward"],
  );
  assert.deepEqual(
    keys.map((key) => meaning(key, { choosing: true, reasons: 6 })),
    ["undo", "undo", null, null],
  );
});
