import assert from "node:assert/strict";
import { test } from "node:test";

import { mount, problem, summary } from "../../static/annotate/upload.js";

const files = (...sizes) => sizes.map((size) => ({ file: { size }, path: "a" }));
const limits = { mostFiles: 2, mostMegabytes: 10 };

test("the summary has the number of files and their size", () => {
  assert.equal(summary(files(1_500_000)), "1 file, 1.5 MB");
  assert.equal(summary(files(15_000_000, 5_000_000)), "2 files, 20 MB");
});

test("uploads within the limits have no problem", () => {
  assert.equal(problem(files(5_000_000, 5_000_000), limits), "");
});

test("too many files and too many bytes are named", () => {
  assert.match(problem(files(1, 1, 1), limits), /3 files are too many/);
  assert.match(problem(files(10_000_001), limits), /more than 10 MB/);
});

/** A form for photographs, with what its parts do of a page. */
function formWith(photographs) {
  const part = () => ({ value: "", addEventListener: () => {}, files: [] });
  const parts = Object.fromEntries(
    ["drop", "drop-hint", "files", "folder", "state", "progress", "chosen"].map((name) => [`[data-${name}]`, part()]),
  );
  parts["[data-files]"].files = photographs;
  return {
    dataset: { mostFiles: "2", mostMegabytes: "10" },
    querySelector: (selector) => parts[selector] ?? part(),
    addEventListener: () => {},
  };
}

test("the upload says its progress at the start, at each tenth and at the end", () => {
  const form = formWith([{ name: "a.jpg", size: 1_500_000 }]);
  const said = [];
  Object.defineProperty(form.querySelector("[data-state]"), "value", { set: (text) => said.push(text) });
  form.querySelector("[data-progress]").classList = { add() {}, remove() {} };
  let submit, progress;
  form.addEventListener = (_, listener) => (submit = listener);
  globalThis.FormData = class {
    delete() {}
    append() {}
    set() {}
  };
  globalThis.XMLHttpRequest = class {
    upload = { addEventListener: (_, listener) => (progress = listener) };
    addEventListener() {}
    open() {}
    send() {}
  };
  globalThis.location = { pathname: "/" };
  mount(form);
  said.length = 0;

  submit({ preventDefault() {} });
  for (let loaded = 0; loaded <= 200; loaded += 1) progress({ loaded, total: 200 });

  assert.deepEqual(said.map((text) => parseInt(text)), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
});

test("photographs that were chosen before the script was there are counted", () => {
  const photograph = { name: "a.jpg", size: 1_500_000 };
  const early = formWith([photograph]);
  const many = formWith([photograph, photograph, photograph]);
  const empty = formWith([]);

  [early, many, empty].forEach(mount);

  const chosen = (form) => form.querySelector("[data-chosen]").value;
  assert.deepEqual([early, empty].map(chosen), ["1 file, 1.5 MB", ""]);
  assert.match(many.querySelector("[data-state]").value, /3 files are too many/);
});
