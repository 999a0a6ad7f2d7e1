// Counts how an answer is made: edits, pastes, seconds, and how often the page is left. It counts
// and never keeps what is typed or pasted; the worker reads so in the page's footer.

const CARRIED_IN = ["insertFromPaste", "insertFromDrop"];

/** The counts of one task before anything has happened. */
export function nothing() {
  return { keystrokes: 0, pastes: 0, pasted_characters: 0, seconds_writing: 0, times_left: 0 };
}

/** Note an edit: one that was pasted or dropped is counted where that happens. */
export function edited(counts, inputType) {
  if (!CARRIED_IN.includes(inputType)) counts.keystrokes += 1;
}

/** Note that so many characters were pasted or dropped. */
export function carriedIn(counts, characters) {
  counts.pastes += 1;
  counts.pasted_characters += characters;
}

/** The counts to go on from: those that were kept with the text that the page is filled with. */
export function countsBefore(kept) {
  return { ...nothing(), ...JSON.parse(kept ?? "{}") };
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

/** Count in one task's part of the form; the counts go along when the form is sent or kept. */
function mount(part) {
  const form = part.closest("form");
  const { dataset } = part;
  const counts = nothing();
  let watch = stopwatch(() => performance.now());
  const characters = (data) => data?.getData("text").length ?? 0;

  part.addEventListener("input", (event) => edited(counts, event.inputType));
  part.addEventListener("paste", (event) => carriedIn(counts, characters(event.clipboardData)));
  part.addEventListener("drop", (event) => carriedIn(counts, characters(event.dataTransfer)));
  part.addEventListener("focusin", () => watch.start());
  part.addEventListener("focusout", () => watch.stop());
  window.addEventListener("blur", () => (counts.times_left += 1));
  form.addEventListener("restored", ({ detail }) => {
    Object.assign(counts, countsBefore(detail[dataset.behaviour]));
    watch = stopwatch(() => performance.now(), counts.seconds_writing);
    if (part.contains(document.activeElement)) watch.start();
  });
  form.addEventListener("formdata", ({ formData }) => {
    const made = { ...counts, seconds_writing: watch.seconds() };
    formData.set(dataset.behaviour, JSON.stringify(made));
  });
}

if (globalThis.document) document.querySelectorAll("[data-behaviour]").forEach(mount);
