// The buttons and lines around the caption: kinds, undo, what to do next, how far it is.

import { filled } from "../texts.js";
import { KIND_KEYS } from "./keys.js";
import { nameOf, progress, prompt } from "./words.js";

/** Wire the buttons; `run({ command })` or `run({ kind })` is called for a press. Returns what
 *  shows a state, names the box in front, and says a sentence to screen readers. */
export function mountControls(page, run) {
  const part = (name) => page.task.querySelector(`[data-${name}]`);
  const kinds = [...page.task.querySelectorAll("[data-kinds] button")];
  const commands = [...page.task.querySelectorAll("[data-command]")];
  for (const button of kinds) {
    button.append(keyCap(KIND_KEYS[button.value]));
    whenEnabled(button, () => run({ kind: button.value }));
  }
  for (const button of commands) {
    whenEnabled(button, () => run({ command: button.dataset.command }));
  }
  return {
    show(state) {
      kinds.forEach((button) => showKind(state, button));
      enable(part("command='undo'"), state.past.length > 0);
      enable(part("command='redo'"), state.future.length > 0);
      part("prompt").textContent = prompt(state, page);
      part("progress").textContent = progress(state, page);
    },
    forward(box) {
      part("in-front").textContent = box ? capitalised(nameOf(page, box)) : "";
    },
    /** Show and say that the number of a box may have another digit. */
    waitFor(number) {
      part("in-front").textContent = filled(page.texts.mayGoOn, { number });
      part("said").textContent = filled(page.texts.sayMayGoOn, { number });
    },
    say(sentence) {
      part("said").textContent = sentence;
    },
    complain(message) {
      const item = Object.assign(document.createElement("li"), { textContent: message });
      part("problems").replaceChildren(...(message ? [item] : []));
    },
  };
}

function showKind(state, button) {
  const { words, answers } = state;
  enable(button, words.length > 0);
  const isGiven = words.length > 0 && words.every((word) => answers[word] === button.value);
  button.setAttribute("aria-pressed", isGiven);
}

function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** Not `disabled`, which would take the focus from a button that was just pressed. */
function enable(button, isEnabled) {
  button.setAttribute("aria-disabled", !isEnabled);
}

function whenEnabled(button, act) {
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-disabled") !== "true") act();
  });
}

function keyCap(key) {
  const cap = document.createElement("kbd");
  return Object.assign(cap, { textContent: key.toUpperCase(), ariaHidden: "true" });
}
