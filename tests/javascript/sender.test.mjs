import assert from "node:assert/strict";
import { test } from "node:test";

import { isChanged, Sender } from "../../static/hits/sender.js";

globalThis.FormData = class {
  *[Symbol.iterator]() {}
};

/** A sender with a problem on its page, and the function that answers its check. */
function checking(context) {
  let reply;
  const answer = new Promise((resolve) => {
    reply = (problems) => resolve({ status: 200, json: async () => ({ problems }) });
  });
  context.mock.method(globalThis, "fetch", () => answer);
  const list = {
    children: [{ textContent: "Too short." }],
    replaceChildren(...items) {
      this.children = items;
    },
  };
  const field = { querySelector: () => list, querySelectorAll: () => [] };
  const sender = Object.assign(Object.create(Sender.prototype), {
    form: {
      action: "https://site/",
      querySelector: () => list.children[0] ?? null,
      querySelectorAll: () => [field],
    },
    texts: { correct: "Please correct.", timeIsOver: "Time is over.", timeOver: "Over" },
    button: {},
    status: { value: "Please correct.", classList: { toggle: () => {} } },
    check: 1,
  });
  return { sender, reply, shown: () => list.children.length };
}

test("a check takes corrected problems away", async (context) => {
  const { sender, reply, shown } = checking(context);

  const check = sender.checkAgain();
  reply({});
  await check;

  assert.deepEqual([sender.status.value, shown()], ["", 0]);
});

for (const [what, act, said] of [
  ["another refusal", (sender) => sender.take({ outcome: "incorrect" }), "Please correct."],
  ["the end of the time", (sender) => sender.endTime(), "Time is over."],
]) {
  test(`a check that is answered after ${what} changes nothing`, async (context) => {
    const { sender, reply, shown } = checking(context);

    const check = sender.checkAgain();
    act(sender);
    reply({});
    await check;

    assert.deepEqual([sender.status.value, shown()], [said, 1]);
  });
}

test("the time that ends while an answer is refused is over after it", (context) => {
  const { sender } = checking(context);
  sender.isSending = true;
  sender.endTime();
  sender.isSending = false;

  sender.take({ outcome: "incorrect", problems: {} });

  assert.equal(sender.status.value, "Time is over.");
  assert.equal(sender.button.disabled, true);
});

test("a draft that comes back after the time is over is there, and so is the message", (context) => {
  const { sender } = checking(context);
  const field = { name: "text", value: "", type: "textarea" };
  Object.assign(sender.form, { elements: { text: field }, dispatchEvent: () => {} });
  sender.draft = { fields: { text: "A dog." } };
  sender.endTime();

  sender.restore();

  assert.equal(field.value, "A dog.");
  assert.equal(sender.status.value, "Time is over.");
});

for (const type of ["text", "textarea"]) {
  test(`what was written in a ${type} field before the script was there is kept`, () => {
    const elements = [{ type: "hidden", value: "1", defaultValue: "1" }];
    assert.equal(isChanged({ elements }), false);

    elements.push({ type, value: "The photograph is dark.", defaultValue: "" });

    assert.equal(isChanged({ elements }), true);
  });
}
