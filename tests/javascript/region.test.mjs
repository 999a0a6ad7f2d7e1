import assert from "node:assert/strict";
import { test } from "node:test";

import { timesFor } from "../../static/kinds/region.js";

test("a region is enlarged until its longer side nearly fills the frame", () => {
  const frame = { width: 400, height: 200 };

  assert.equal(timesFor({ width: 40, height: 10 }, frame), 8);
  assert.equal(timesFor({ width: 40, height: 40 }, frame), 4);
});
