import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseBox, chooseWord, start } from "../../static/kinds/correspondence/state.js";
import {
  describe,
  missing,
  progress,
  prompt,
  quote,
  report,
} from "../../static/kinds/correspondence/words.js";

const page = {
  texts: {
    quoted: "“{words}”",
    comma: ", ",
    and: "{one} and {other}",
    box: "box {number}, {label}",
    choose: "Choose a word or a box.",
    whichBoxes: "Which boxes show {words}?",
    whichWords: "Which words name {box}?",
    answer: "{words}: {answer}.",
    noChoice: "no choice",
    progress: "{progress}.",
    missing: "Please choose a box for {words}, or say why no box fits.",
  },
  progress: "{done} of {total} words",
  gap: " ",
  words: [{ text: "hot" }, { text: "dog" }, { text: "here" }],
  suggested: [0, 1],
  boxes: [
    { value: "box:7", number: 1, label: "Hot dog" },
    { value: "box:3", number: 2, label: "Plate" },
  ],
  kinds: [{ value: "scene", label: "The scene as a whole" }],
};
const opened = start(["", "", ""], ["box:7", "box:3"]);

test("an answer is said with its boxes' numbers and names, or as its kind", () => {
  assert.equal(describe("box:7 box:3", page), "box 1, Hot dog and box 2, Plate");
  assert.equal(describe("scene", page), "The scene as a whole");
  assert.equal(describe("", page), "");
});

test("words of a language without spaces are quoted without them", () => {
  const words = [{ text: "交通" }, { text: "信号機" }];

  assert.equal(quote([1, 0], { ...page, words, gap: "" }), "“交通信号機”");
});

test("the prompt asks for what is missing", () => {
  const words = chooseWord(chooseWord(opened, 1), 0, { extend: true });

  assert.equal(prompt(opened, page), "Choose a word or a box.");
  assert.equal(prompt(words, page), "Which boxes show “hot dog”?");
  assert.equal(prompt(chooseBox(opened, "box:3"), page), "Which words name box 2, Plate?");
});

test("a change is reported with how far the worker is", () => {
  const chosen = chooseWord(opened, 1);
  const linked = chooseBox(chosen, "box:7");

  assert.equal(report(chosen, linked, page), "“dog”: box 1, Hot dog. 1 of 2 words.");
  assert.equal(report(linked, chosen, page), "“dog”: no choice. 0 of 2 words.");
  assert.equal(report(opened, chosen, page), "");
  assert.equal(report(chosen, linked, { ...page, suggested: [] }), "“dog”: box 1, Hot dog.");
});

test("progress counts the marked words only", () => {
  assert.equal(progress({ answers: ["", "scene", "scene"] }, page), "1 of 2 words");
  assert.equal(progress({ answers: [""] }, { suggested: [] }), "");
});

test("an answer is complete once every marked word has one", () => {
  assert.equal(missing({ answers: ["scene", "box:7", ""] }, page), "");
  assert.match(missing({ answers: ["", "box:7", ""] }, page), /a box for “hot”,/);
});
