import assert from "node:assert/strict";
import { test } from "node:test";

import { opened } from "../../static/hits/live.js";

test("only opened tables with an id are remembered", () => {
  const details = [{ open: true, id: "a" }, { open: false, id: "b" }, { open: true, id: "" }];

  assert.deepEqual(opened(details), ["a"]);
});
