// The meaning of keys while something of the task has the focus.

import { latinKey } from "../keyboard.js";

const COMMANDS = {
  escape: "let go",
  t: "next",
  z: "undo",
  y: "redo",
  "+": "closer",
  "=": "closer",
  "-": "farther",
};

/** The key that stands for each kind of word without a box. */
export const KIND_KEYS = { "not-boxed": "v", scene: "s", "not-visual": "n" };

/** `{ command }`, `{ kind }` or `{ digit }`, or null for a key without a meaning here. */
export function meaning({ key: pressed, code, ctrlKey, metaKey, altKey, shiftKey }) {
  const key = latinKey({ key: pressed, code, shiftKey });
  const lower = key.toLowerCase();
  if (altKey) return null;
  if (ctrlKey || metaKey) {
    if (lower === "z") return { command: shiftKey ? "redo" : "undo" };
    return lower === "y" ? { command: "redo" } : null;
  }
  if (/^[0-9]$/.test(key)) return { digit: key };
  const kind = Object.keys(KIND_KEYS).find((name) => KIND_KEYS[name] === lower);
  if (kind) return { kind };
  return Object.hasOwn(COMMANDS, lower) ? { command: COMMANDS[lower] } : null;
}

/** A digit after those typed before it: the numbers of the boxes that are now certain, and the
 *  digits of a number that is perhaps unfinished. A digit that cannot belong to the number before it ends
 *  that number and begins the next one. */
export function typeDigit(typed, digit, count) {
  const number = Number(typed + digit);
  if (number >= 1 && number <= count) {
    return number * 10 <= count ? { typed: `${number}`, numbers: [] } : { typed: "", numbers: [number] };
  }
  if (!typed) return { typed: "", numbers: [] };
  const next = typeDigit("", digit, count);
  return { typed: next.typed, numbers: [Number(typed), ...next.numbers] };
}

/** Where an arrow key leads in a row of `count`, which may begin on the right; null for other
 *  keys. */
export function moved(place, key, count, beginsRight = false) {
  const right = beginsRight ? -1 : 1;
  const steps = { ArrowLeft: -right, ArrowUp: -1, ArrowRight: right, ArrowDown: 1 };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (!Object.hasOwn(steps, key)) return null;
  return Math.min(count - 1, Math.max(0, place + steps[key]));
}

/** Make a row of buttons one stop of the Tab key: the button that was last pressed or had the focus.
 *  Arrow keys lead from button to button; then `arrive(place, event)` is called. */
export function mountRow(row, buttons, first, arrive = () => {}) {
  const stopAt = (place) => buttons.forEach((button, at) => (button.tabIndex = at === place ? 0 : -1));
  stopAt(first);
  buttons.forEach((button, place) => {
    // Safari does not give the focus to a button that is pressed.
    for (const name of ["focus", "click"]) button.addEventListener(name, () => stopAt(place));
  });
  row.addEventListener("keydown", (event) => {
    const place = buttons.indexOf(event.target.closest("button"));
    const beginsRight = getComputedStyle(row).direction === "rtl";
    const next = moved(place, event.key, buttons.length, beginsRight);
    if (next === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    buttons[next].focus();
    if (next !== place) arrive(next, event);
  });
}
