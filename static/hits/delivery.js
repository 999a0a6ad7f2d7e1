// Takes an answer to our server and then to the marketplace, in the background. Each step may be
// repeated: both servers take the same answer once. A marketplace that cannot be asked in the
// background gets the answer from the page itself, which so leaves.

const PATIENCE = 15_000; // milliseconds until a server counts as not answering
const FIRST_PAUSE = 5_000;
const LONGEST_PAUSE = 60_000;

/** Milliseconds to wait before the next try, after this many that failed. */
export function pause(failures) {
  return Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1));
}

/** Fields as a form sends them: the same bytes, whether a script or the browser sends them. */
export function encoded(fields) {
  const pairs = Object.entries(fields);
  return new URLSearchParams(pairs.map(([name, text]) => [name, text.replace(/\r?\n/g, "\r\n")]));
}

/** Post fields and return the JSON of the reply; raises an error if no server has answered. */
export async function ask(address, fields, fetch = globalThis.fetch) {
  const answer = await fetch(address, {
    method: "POST",
    body: encoded(fields),
    headers: { Accept: "application/json" },
    credentials: "omit",
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (answer.status >= 500) throw new Error(`the server answered ${answer.status}`);
  return await answer.json();
}

/** Whether the marketplace takes answers in the background: "yes", "no", or "away" if nothing
 *  answers at its address. */
async function takesAnswers(address, fetch) {
  const options = { credentials: "omit", signal: AbortSignal.timeout(PATIENCE) };
  try {
    const answer = await fetch(address, { ...options, headers: { Accept: "application/json" } });
    return (await answer.json()).outcome ? "yes" : "no";
  } catch {
    // It does not answer, or does not let us read what it answers.
  }
  try {
    await fetch(address, { ...options, mode: "no-cors" });
    return "no";
  } catch {
    return "away";
  }
}

/** Deliver an answer. `all` are the form's fields for our server, `answer` those without what is
 *  for our server alone; `insists` says that the worker tries again. Returns the outcome:
 *  - `accepted` or `last`: the marketplace has the answer;
 *  - `incorrect`: our server refuses it, with `problems` by field or a `message`;
 *  - `late`, `over` or `refused`: the marketplace refuses it, with a `message`;
 *  - `unsent`: no server answers;
 *  - `leaving`: the page has to post the `fields` to the marketplace itself. */
export async function deliver(
  { site, marketplace, assignment, all, answer, insists = false },
  fetch = globalThis.fetch,
) {
  const isTaken = takesAnswers(marketplace, fetch);
  let fields = answer;
  let isStored = false;
  try {
    const reply = await ask(site, all, fetch);
    if (!reply.fields) return { outcome: "incorrect", ...reply };
    fields = reply.fields;
    isStored = true;
  } catch {
    // Our server does not answer. The marketplace keeps the answer, and we fetch it there.
  }
  fields = { assignmentId: assignment, ...fields };
  const takes = await isTaken;
  // A check that fails is not always right: a marketplace may lead it to an address that the
  // page's policy forbids. If our server answers, the network is there.
  if (takes === "no" || (takes === "away" && isStored && insists)) {
    return { outcome: "leaving", fields };
  }
  if (takes === "away") return { outcome: "unsent" };
  try {
    return { ...(await ask(marketplace, fields, fetch)), fields };
  } catch {
    return { outcome: "unsent" };
  }
}
