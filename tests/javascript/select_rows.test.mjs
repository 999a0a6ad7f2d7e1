import assert from "node:assert/strict";
import { test } from "node:test";

import { told } from "../../static/qualcontrol/select_rows.js";

test("the number of selected rows is said unless there is none", () => {
  assert.deepEqual([0, 1, 12].map(told), ["", "(1 selected)", "(12 selected)"]);
});
