import assert from "node:assert/strict";
import { test } from "node:test";

import { mount, opened } from "../../static/hits/live.js";

test("only opened tables with an id are remembered", () => {
  const details = [{ open: true, id: "a" }, { open: false, id: "b" }, { open: true, id: "" }];

  assert.deepEqual(opened(details), ["a"]);
});

test("a table that was closed since stays closed when another part is refreshed", () => {
  const table = { id: "pay", open: true, setAttribute: () => (table.open = true) };
  const page = Object.assign(new EventTarget(), { getElementById: () => table });
  const part = (isLive) => ({ matches: () => isLive, querySelectorAll: () => [table] });
  const refresh = (target) => {
    page.dispatchEvent(new CustomEvent("htmx:beforeSwap", { detail: { target } }));
    page.dispatchEvent(new CustomEvent("htmx:afterSwap"));
  };
  mount(page);

  refresh(part(true));
  assert.ok(table.open);
  table.open = false;
  refresh(part(false));

  assert.ok(!table.open);
});
