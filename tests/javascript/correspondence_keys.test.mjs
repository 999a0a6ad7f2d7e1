import assert from "node:assert/strict";
import { test } from "node:test";

import { meaning, moved, typeDigit } from "../../static/kinds/correspondence/keys.js";

test("letters, signs and digits mean commands, kinds and numbers, in either case", () => {
  assert.deepEqual(meaning({ key: "t" }), { command: "next" });
  assert.deepEqual(meaning({ key: "Z", shiftKey: true }), { command: "undo" });
  assert.deepEqual(meaning({ key: "Escape" }), { command: "let go" });
  assert.deepEqual(meaning({ key: "+", shiftKey: true }), { command: "closer" });
  assert.deepEqual(meaning({ key: "S" }), { kind: "scene" });
  assert.deepEqual(meaning({ key: "7" }), { digit: "7" });
});

test("with a layout of other letters and digits, the place of the key counts", () => {
  assert.deepEqual(meaning({ key: "ف", code: "KeyT" }), { command: "next" });
  assert.deepEqual(meaning({ key: "ى", code: "KeyN" }), { kind: "not-visual" });
  assert.deepEqual(meaning({ key: "٣", code: "Digit3" }), { digit: "3" });
  assert.deepEqual(meaning({ key: "t", code: "KeyK" }), { command: "next" });
  assert.equal(meaning({ key: "ك", code: "Semicolon" }), null);
  // On a French keyboard, unshifted.
  assert.deepEqual(meaning({ key: "&", code: "Digit1" }), { digit: "1" });
  assert.deepEqual(meaning({ key: "é", code: "Digit2" }), { digit: "2" });
  assert.deepEqual(meaning({ key: "-", code: "Digit6" }), { digit: "6" });
  assert.deepEqual(meaning({ key: "6", code: "Digit6", shiftKey: true }), { digit: "6" });
  assert.equal(meaning({ key: "!", code: "Digit1", shiftKey: true }), null);
  assert.equal(meaning({ key: "End", code: "Numpad1" }), null);
});

test("in a row that begins on the right, the left arrow leads on", () => {
  assert.equal(moved(1, "ArrowLeft", 3, true), 2);
  assert.equal(moved(1, "ArrowRight", 3, true), 0);
  assert.equal(moved(1, "ArrowDown", 3, true), 2);
});

test("with Ctrl or Command only undo and redo mean something", () => {
  assert.deepEqual(meaning({ key: "z", ctrlKey: true }), { command: "undo" });
  assert.deepEqual(meaning({ key: "Z", metaKey: true, shiftKey: true }), { command: "redo" });
  assert.deepEqual(meaning({ key: "y", ctrlKey: true }), { command: "redo" });
  for (const key of ["s", "v", "t", "1", "+", "-", "n"]) {
    assert.equal(meaning({ key, ctrlKey: true }), null);
  }
});

test("other keys mean nothing", () => {
  for (const key of ["x", "Enter", " ", "Tab", "F5", "constructor", "toString"]) {
    assert.equal(meaning({ key }), null);
  }
  assert.equal(meaning({ key: "1", altKey: true }), null);
});

test("a digit is a box's number at once where no longer number begins with it", () => {
  assert.deepEqual(typeDigit("", "3", 9), { typed: "", numbers: [3] });
  assert.deepEqual(typeDigit("", "5", 40), { typed: "", numbers: [5] });
  assert.deepEqual(typeDigit("1", "2", 40), { typed: "", numbers: [12] });
});

test("a digit waits for another where a longer number may follow", () => {
  assert.deepEqual(typeDigit("", "4", 40), { typed: "4", numbers: [] });
  assert.deepEqual(typeDigit("", "1", 10), { typed: "1", numbers: [] });
  assert.deepEqual(typeDigit("1", "2", 140), { typed: "12", numbers: [] });
});

test("a digit that makes no box's number ends the number before it", () => {
  assert.deepEqual(typeDigit("1", "5", 12), { typed: "", numbers: [1, 5] });
  assert.deepEqual(typeDigit("4", "1", 40), { typed: "1", numbers: [4] });
  assert.deepEqual(typeDigit("12", "9", 125), { typed: "9", numbers: [12] });
});

test("a number that no box has chooses nothing", () => {
  assert.deepEqual(typeDigit("", "0", 40), { typed: "", numbers: [] });
  assert.deepEqual(typeDigit("", "1", 0), { typed: "", numbers: [] });
  assert.deepEqual(typeDigit("3", "0", 25), { typed: "", numbers: [3] });
});

test("whatever boxes are meant, typing their numbers with Enter after each chooses them", () => {
  for (let count = 1; count <= 120; count += 1) {
    for (let meant = 1; meant <= count; meant += 1) {
      let typed = "";
      const chosen = [];
      for (const digit of `${meant}`) {
        const step = typeDigit(typed, digit, count);
        chosen.push(...step.numbers);
        typed = step.typed;
      }
      if (typed) chosen.push(Number(typed)); // Enter, or any other act
      assert.deepEqual(chosen, [meant]);
    }
  }
});

test("arrows move by one and stay in the row", () => {
  assert.equal(moved(2, "ArrowRight", 5), 3);
  assert.equal(moved(4, "ArrowDown", 5), 4);
  assert.equal(moved(0, "ArrowLeft", 5), 0);
  assert.equal(moved(3, "Home", 5), 0);
  assert.equal(moved(3, "End", 5), 4);
  assert.equal(moved(3, "Enter", 5), null);
  assert.equal(moved(3, "constructor", 5), null);
});
