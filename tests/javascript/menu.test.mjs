import assert from "node:assert/strict";
import { test } from "node:test";

import { mount } from "../../static/accounts/menu.js";

test("Escape closes the account menu and puts the focus back on its button", () => {
  let focused = 0;
  const menu = {
    open: true,
    querySelector: () => ({ focus: () => (focused += 1) }),
    addEventListener: (_, listener) => (menu.listener = listener),
  };
  mount(menu);

  menu.listener({ key: "a" });
  assert.deepEqual([menu.open, focused], [true, 0]);
  menu.listener({ key: "Escape" });
  menu.listener({ key: "Escape" });
  assert.deepEqual([menu.open, focused], [false, 1]);
});
