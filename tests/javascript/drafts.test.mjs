import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft } from "../../static/hits/drafts.js";
import { draftsIn } from "../../static/marketplace/drafts.js";

const PAGE = "?assignmentId=A&hitId=H&workerId=W";
const DAY = 24 * 60 * 60 * 1000;

function memory() {
  const kept = new Map();
  return {
    get length() {
      return kept.size;
    },
    key: (place) => [...kept.keys()][place],
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
}

test("a page finds what was written on it, and the worker's other pages do not", () => {
  const storage = memory();
  new Draft(PAGE, storage).keep({ "caption-1": "A dog." });

  assert.deepEqual(new Draft(PAGE, storage).fields, { "caption-1": "A dog." });
  assert.deepEqual(new Draft("?assignmentId=B&workerId=W", storage).fields, {});
  assert.equal(storage.length, 1);
});

test("another worker's page deletes it, also with the same assignment's id", () => {
  const storage = memory();
  new Draft(PAGE, storage).keep({ "caption-1": "A dog." });

  assert.deepEqual(new Draft("?assignmentId=A&workerId=X", storage).fields, {});
  assert.equal(storage.length, 0);
});

test("it is kept for a week, and for a day once it was sent elsewhere", () => {
  const storage = memory();
  let now = 0;
  const fieldsAt = (at) => new Draft(PAGE, storage, () => at).fields;
  const draft = new Draft(PAGE, storage, () => now);

  draft.keep({ a: "1" });
  assert.deepEqual(fieldsAt(7 * DAY - 1), { a: "1" });
  assert.deepEqual(fieldsAt(7 * DAY), {});
  draft.keep({ a: "1" }, { isSent: true });
  assert.deepEqual(fieldsAt(DAY), {});
});

test("a frame without storage, a full one and a spoilt one do no harm", () => {
  const full = { ...memory(), length: 0, setItem: () => assert.fail("full") };
  const spoilt = memory();
  spoilt.setItem("draft W A", "{");

  new Draft(PAGE, null).keep({ a: "1" });
  new Draft(PAGE, full).keep({ a: "1" });

  assert.deepEqual(new Draft(PAGE, spoilt).fields, {});
  assert.deepEqual(new Draft("?", null).fields, {});
});

test("the page around the frame takes the draft over", () => {
  const storage = memory();
  const posted = [];
  const draft = new Draft(PAGE, storage);
  draft.keep({ a: "mine" });

  draft.moveAround((text) => posted.push(text), null);
  draft.drop();

  assert.equal(JSON.parse(posted[0]).fields.a, "mine");
  assert.equal(posted[1], null);
  assert.equal(storage.length, 0);
});

test("what the page around the frame has kept comes before this site's", () => {
  const draft = new Draft(PAGE, memory());
  draft.moveAround(() => {}, JSON.stringify({ until: 1, fields: { a: "kept" } }));

  assert.deepEqual(draft.fields, { a: "kept" });
});

test("the marketplace keeps drafts of one worker, and none after they sign out", () => {
  const storage = memory();
  const drafts = draftsIn(storage, () => 0);
  drafts.set("W", "A", "text");
  drafts.set("W", "B", "x".repeat(200_001));
  assert.equal(drafts.get("W", "A"), "text");
  assert.equal(drafts.get("W", "B"), null);

  drafts.tidy("W");
  assert.equal(drafts.get("W", "A"), "text");
  draftsIn(storage, () => 7 * DAY).tidy("W");
  assert.equal(drafts.get("W", "A"), null);

  drafts.set("W", "B", "text");
  drafts.end("W", "B");
  drafts.set("W", "B", "written on the page that is still open");
  assert.equal(drafts.get("W", "B"), null);

  drafts.set("W", "A", "text");
  drafts.tidy("X");
  assert.equal(storage.length, 0);
  drafts.set("W", "A", "text");
  assert.ok(drafts.any());
  drafts.clear();
  drafts.set("W", "A", "text");
  assert.ok(!drafts.any());
});
