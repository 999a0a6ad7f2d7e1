import assert from "node:assert/strict";
import { test } from "node:test";

import { deliver, encoded, pause } from "../../static/hits/delivery.js";

const ANSWER = {
  site: "https://site/",
  marketplace: "https://market/",
  assignment: "A",
  all: { token: "t", text: "a  dog" },
  answer: { text: "a  dog" },
};

/** A network: each address has what it does for a GET, one without CORS, and a POST. */
function network(servers) {
  const posts = [];
  const fetch = async (address, { method = "GET", mode = "cors", body }) => {
    if (method === "POST") posts.push([address, `${body}`]);
    const does = servers[address]?.[mode === "no-cors" ? mode : method];
    if (does === undefined) throw new TypeError("Failed to fetch");
    return { status: 200, json: async () => does, ...(does.status && { status: does.status }) };
  };
  return { fetch, posts };
}

const SITE = { POST: { fields: { text: "a dog" } } };
const OURS = { GET: { outcome: "refused" }, POST: { outcome: "accepted" }, "no-cors": {} };

test("an answer goes to our server, and what it returns to the marketplace", async () => {
  const { fetch, posts } = network({ "https://site/": SITE, "https://market/": OURS });

  const result = await deliver(ANSWER, fetch);

  assert.equal(result.outcome, "accepted");
  assert.deepEqual(posts, [
    ["https://site/", "token=t&text=a++dog"],
    ["https://market/", "assignmentId=A&text=a+dog"],
  ]);
});

test("without our server the marketplace gets the answer as it is", async () => {
  const broken = { POST: { status: 502 } };
  for (const servers of [{}, { "https://site/": broken }]) {
    const { fetch, posts } = network({ ...servers, "https://market/": OURS });

    assert.equal((await deliver(ANSWER, fetch)).outcome, "accepted");
    assert.equal(posts.at(-1)[1], "assignmentId=A&text=a++dog");
  }
});

test("problems stay on the page", async () => {
  const problems = { text: ["Too short."] };
  const { fetch } = network({ "https://site/": { POST: { problems } }, "https://market/": OURS });

  assert.deepEqual(await deliver(ANSWER, fetch), { outcome: "incorrect", problems });
});

test("nothing leaves the page while no marketplace answers", async () => {
  const unsent = { outcome: "unsent" };
  const half = { GET: OURS.GET, "no-cors": {} };

  assert.deepEqual(await deliver(ANSWER, network({}).fetch), unsent);
  assert.deepEqual(await deliver(ANSWER, network({ "https://site/": SITE }).fetch), unsent);
  assert.deepEqual(await deliver(ANSWER, network({ "https://market/": half }).fetch), unsent);
});

test("another marketplace gets the answer from the page itself", async () => {
  for (const other of [{ "no-cors": {} }, { GET: {}, "no-cors": {} }]) {
    const { fetch, posts } = network({ "https://site/": SITE, "https://market/": other });
    const fields = { assignmentId: "A", text: "a dog" };

    assert.deepEqual(await deliver(ANSWER, fetch), { outcome: "leaving", fields });
    assert.equal(posts.length, 1);
  }
});

test("a worker who tries again gets through to a marketplace that cannot be asked", async () => {
  const servers = { "https://site/": SITE };
  const again = { ...ANSWER, insists: true };

  assert.equal((await deliver(again, network(servers).fetch)).outcome, "leaving");
  assert.equal((await deliver(again, network({}).fetch)).outcome, "unsent");
});

test("line breaks are sent as a form sends them", () => {
  assert.equal(`${encoded({ a: "1\n2\r\n3" })}`, "a=1%0D%0A2%0D%0A3");
});

test("the pauses between tries grow up to a minute", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 9].map(pause), [5000, 10000, 20000, 40000, 60000, 60000]);
});
