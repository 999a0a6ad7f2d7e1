// Links the words of a caption to the boxes of its image. The form's selects hold the answer;
// this script hides them and keeps them in step, so that the same form is sent with and without.

import { mountBoxList } from "./correspondence/box_list.js";
import { mountControls } from "./correspondence/controls.js";
import { meaning, typeDigit } from "./correspondence/keys.js";
import { hideFields, readAnswers, readPage, writeAnswers } from "./correspondence/page.js";
import { mountPicture } from "./correspondence/picture.js";
import { mountSentence } from "./correspondence/sentence.js";
import * as states from "./correspondence/state.js";
import { missing, report } from "./correspondence/words.js";

/** One task: keeps the state, and shows each new one in all parts of the page. */
class Linker {
  constructor(task) {
    this.page = readPage(task);
    this.state = states.start(
      readAnswers(this.page),
      this.page.boxes.map((box) => box.value),
    );
    this.typed = ""; // digits of a box's number that may go on
    this.pointed = null; // the box under the pointer, or with the focus
    this.wasHeldBack = false;
    const point = (box) => this.point(box);
    this.sentence = mountSentence(this.page, (word, how) => this.chooseWord(word, how));
    this.picture = mountPicture(this.page, { press: (...args) => this.press(...args), point });
    this.list = mountBoxList(this.page, {
      choose: (box) => {
        this.settle();
        this.chooseBox(box);
      },
      reveal: (box) => this.picture.reveal(box),
      point,
    });
    this.controls = mountControls(this.page, (command) => this.run(command));
    task.addEventListener("keydown", (event) => this.handleKey(event));
    // Before the page's own script sends the form.
    task.form.addEventListener("submit", (event) => this.holdBack(event), { capture: true });
    task.form.addEventListener("restored", () => {
      this.change({ ...this.state, answers: readAnswers(this.page) });
    });
    hideFields(this.page);
    task.classList.add("live");
    this.change(this.state);
  }

  /** Take on a new state, show it, and say what it changed. */
  change(next, said = "") {
    const spoken = [said, report(this.state, next, this.page)].filter(Boolean).join(" ");
    const isChange = next.answers !== this.state.answers;
    this.state = next;
    this.typed = "";
    writeAnswers(this.page, next.answers);
    if (isChange) this.page.task.dispatchEvent(new Event("change", { bubbles: true }));
    for (const part of [this.sentence, this.picture, this.list, this.controls]) part.show(next);
    this.point(this.pointed);
    if (spoken) this.controls.say(spoken);
    if (this.wasHeldBack) this.controls.complain(missing(next, this.page));
  }

  /** Bring a box forward; with null, the chosen one or none. */
  point(box) {
    this.pointed = box;
    const forward = box ?? this.state.box;
    for (const part of [this.picture, this.list, this.controls]) part.forward(forward);
  }

  chooseWord(word, { extend, byArrow = false }) {
    this.settle();
    // While a box is chosen the arrows only move the focus.
    if (byArrow && this.state.box) return;
    this.pointed = null;
    this.change(states.chooseWord(this.state, word, { extend }));
  }

  chooseBox(box) {
    this.pointed = box;
    this.change(states.chooseBox(this.state, box));
    this.picture.reveal(box);
  }

  press(found, last) {
    this.settle();
    const { state, box } = states.pressPlace(this.state, found, last);
    this.change(state);
    return box;
  }

  run({ command, kind }) {
    const { texts } = this.page;
    if (command === "let go" && this.typed) {
      this.typed = "";
      this.point(null);
      return;
    }
    this.settle();
    if (kind) this.change(states.chooseKind(this.state, kind));
    else if (command === "undo") this.change(states.undo(this.state), texts.undone);
    else if (command === "redo") this.change(states.redo(this.state), texts.redone);
    else if (command === "next") this.goToNext();
    else if (command === "let go") this.change(states.letGo(this.state));
    else this.picture.zoom(command);
  }

  /** Go to the next marked word without an answer; to any such word if none is marked. */
  goToNext() {
    const { suggested, words } = this.page;
    const places = suggested.length > 0 ? suggested : [...words.keys()];
    this.change(states.chooseNext(this.state, places));
    if (this.state.words.length > 0) this.sentence.focus(this.state.words[0]);
  }

  handleKey(event) {
    if (event.target.closest("select, input, textarea")) return;
    if (event.key === "Enter" && this.typed) {
      event.preventDefault();
      this.settle();
      return;
    }
    const meant = meaning(event);
    if (!meant) return;
    event.preventDefault();
    // A key that is held would take back what it has just chosen.
    if (event.repeat && !meant.command) return;
    if (meant.digit) this.type(meant.digit);
    else this.run(meant);
  }

  type(digit) {
    const { typed, numbers } = typeDigit(this.typed, digit, this.page.boxes.length);
    for (const number of numbers) this.chooseNumber(number);
    this.typed = typed;
    if (!typed) return;
    this.point(this.page.boxes[typed - 1].value);
    this.controls.waitFor(typed);
  }

  /** Choose the box whose number is typed, before anything else is done: no digit is lost. */
  settle() {
    if (this.typed) this.chooseNumber(Number(this.typed));
  }

  chooseNumber(number) {
    this.chooseBox(this.page.boxes[number - 1].value);
  }

  /** Keep an answer from being sent that lacks a marked word. */
  holdBack(event) {
    this.settle();
    if (!missing(this.state, this.page)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.wasHeldBack = true;
    this.change(states.letGo(this.state));
    this.goToNext();
  }
}

if (globalThis.document) {
  document.querySelectorAll("[data-correspondence]").forEach((task) => new Linker(task));
}
