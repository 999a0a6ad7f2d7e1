import assert from "node:assert/strict";
import { test } from "node:test";

import { mount } from "../../static/accounts/copy.js";

test("a button that may not copy says so and selects the text", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const source = { textContent: "secret" };
  const selected = [];
  globalThis.document = { getElementById: () => source };
  globalThis.getSelection = () => ({ selectAllChildren: (node) => selected.push(node) });
  const refused = { writeText: () => Promise.reject(new Error("NotAllowedError")) };
  Object.defineProperty(globalThis, "navigator", { value: { clipboard: refused }, configurable: true });
  const button = {
    textContent: "Copy link",
    dataset: { copy: "link" },
    addEventListener: (_, listener) => (button.listener = listener),
  };
  mount(button);

  await button.listener();
  assert.match(button.textContent, /Not copied/);
  assert.deepEqual(selected, [source]);
  context.mock.timers.tick(4000);
  assert.equal(button.textContent, "Copy link");
});
