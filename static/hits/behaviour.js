// Notes for each character of a text in which way it came into the field, and sends how many came
// in each way, with the seconds of writing, and how often the page was left. What is typed or pasted
// is compared on the page, and is not sent by this script; the worker reads so in the page's footer.

// Ways that the browser names. Dictation and completions have no name of their own, and come as
// several characters at once.
const NAMED = {
  insertFromPaste: "pasted",
  insertFromPasteAsQuotation: "pasted",
  insertFromYank: "pasted",
  insertFromDrop: "dropped",
};
const REPLACING = ["insertReplacementText", "insertTranspose"];
const LONGEST_WORD = 40; // characters; a longer replacement or completion is an insertion
const LONGEST_PHRASE = 200; // characters that dictation gives at once
const SPOKEN = 25; // characters a second; 300 words a minute, faster than people dictate

/** Where two texts differ: from `start` on, `removed` made way for `added`. */
export function difference(before, after) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  const fromEnd = (text) => text[text.length - 1 - end];
  while (end < shorter - start && fromEnd(before) === fromEnd(after)) end += 1;
  const middle = (text) => text.slice(start, text.length - end);
  return { start, removed: middle(before), added: middle(after) };
}

/** The way in which an input event added text, `seconds` after what was dictated before. */
export function wayOf(inputType, { added, removed }, seconds) {
  const isComposed = inputType.includes("Composition");
  const { length } = [...added];
  if (inputType in NAMED) return NAMED[inputType];
  if (inputType.startsWith("history")) return "unknown";
  if (length === 1) return isComposed ? "composed" : "typed";
  const isWord = length <= LONGEST_WORD && !/\S\s+\S/.test(added);
  if (REPLACING.includes(inputType)) return length <= LONGEST_WORD ? "replaced" : "inserted";
  if (isWord) return isComposed && removed ? "composed" : "completed";
  return length <= Math.min(LONGEST_PHRASE, seconds * SPOKEN) ? "dictated" : "inserted";
}

/** The way in which each character of a text came. */
export class Origins {
  /** `counts` has the characters of the text by way; what they do not cover came in `way`. */
  constructor(text = "", way = "unknown", counts = {}) {
    this.text = text;
    const counted = Object.entries(counts).flatMap(([name, number]) => Array(number).fill(name));
    this.ways = [...counted, ...Array(text.length).fill(way)].slice(0, text.length);
    this.cut = { start: -1, text: "", ways: [] };
    this.spoken = 0;
  }

  /** Note the text as it is now. `nameWay` names the way of what was added, from the difference. */
  note(text, nameWay) {
    if (text === this.text) return;
    const found = difference(this.text, text);
    const { start, removed, added } = found;
    const taken = this.ways.slice(start, start + removed.length);
    let ways = [];
    // Text that comes back as it was cut out, by undoing or pasting, keeps its ways.
    if (added && added === this.cut.text) ways = this.cut.ways;
    else if (added) ways = Array(added.length).fill(nameWay(found));
    if (ways[0] === "dictated") this.spoken += added.length;
    this.ways = [...this.ways.slice(0, start), ...ways, ...this.ways.slice(start + removed.length)];
    this.text = text;
    if (removed && !added) this.keepCut(start, removed, taken);
  }

  /** Keep what was taken out; letters that are deleted one after another are kept together. */
  keepCut(start, text, ways) {
    const { cut } = this;
    if (start + text.length === cut.start) {
      this.cut = { start, text: text + cut.text, ways: [...ways, ...cut.ways] };
    } else if (start === cut.start) {
      this.cut = { start, text: cut.text + text, ways: [...cut.ways, ...ways] };
    } else this.cut = { start, text, ways };
  }

  counts() {
    const found = {};
    for (const way of this.ways) found[way] = (found[way] ?? 0) + 1;
    return found;
  }
}

/** Counts seconds between starts and stops, after those before; `now` gives milliseconds. */
export function stopwatch(now, before = 0) {
  let total = before * 1000;
  let since = null;
  const stop = () => {
    if (since !== null) total += now() - since;
    since = null;
  };
  return {
    start: () => (since ??= now()),
    stop,
    seconds: () => Math.round((total + (since === null ? 0 : now() - since)) / 100) / 10,
  };
}

/** Whether the event carries in a text that was not cut out of the field before. */
function isForeign({ inputType, data }, { cut }) {
  return inputType in NAMED && !(data && data === cut.text);
}

/** Take no pasted text, and say so below the field until the answer is checked again. */
function refuse(event, area) {
  event.preventDefault();
  const list = area.closest("[data-field]").querySelector("[data-problems]");
  const text = area.dataset.pasteRefused;
  if (list.textContent.includes(text)) return;
  list.append(Object.assign(document.createElement("li"), { textContent: text }));
}

/** Count in one task's part of the form; the counts go along when the form is sent or kept. */
function mount(part) {
  const form = part.closest("form");
  const { behaviour: name } = part.dataset;
  // The field of the text that is asked for, and not those for remarks.
  const area = part.querySelector("textarea[data-least-words]");
  let origins = area && new Origins(area.value, area.value === area.defaultValue ? "given" : "unknown");
  let watch = stopwatch(() => performance.now());
  let timesLeft = 0;
  // Text that changes without an event of the browser was put there by a program.
  const look = (nameWay = () => "unaccounted") => origins?.note(area.value, nameWay);

  area?.addEventListener("beforeinput", (event) => {
    look();
    if (area.dataset.pasteRefused && isForeign(event, origins)) refuse(event, area);
  });
  area?.addEventListener("input", ({ inputType, isTrusted }) => {
    if (!isTrusted) return;
    look((found) => wayOf(inputType ?? "", found, watch.seconds() - origins.spoken / SPOKEN));
  });
  part.addEventListener("focusin", () => watch.start());
  part.addEventListener("focusout", () => watch.stop());
  window.addEventListener("blur", () => (timesLeft += 1));
  form.addEventListener("restored", ({ detail }) => {
    const kept = JSON.parse(detail[name] ?? "{}");
    origins = area && new Origins(area.value, "unknown", kept.characters);
    timesLeft = kept.times_left ?? 0;
    watch = stopwatch(() => performance.now(), kept.seconds_writing);
    if (part.contains(document.activeElement)) watch.start();
  });
  form.addEventListener("formdata", ({ formData }) => {
    look();
    const made = { seconds_writing: watch.seconds(), times_left: timesLeft };
    if (origins) made.characters = origins.counts();
    formData.set(name, JSON.stringify(made));
  });
}

if (globalThis.document) document.querySelectorAll("[data-behaviour]").forEach(mount);
