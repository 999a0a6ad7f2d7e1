// Unsent entries of a worker: kept on their device, so that it is there again after a
// reload, a crash, or a return to the task. Our marketplace's page around the frame keeps it, which
// deletes it when the worker signs out. In any other frame this site's storage does, if the browser
// lets the frame have one; else the page alone has it.
//
// A draft belongs to one assignment of one worker, by the ids in the page's address. The page of
// another worker deletes it. The site itself shows nobody what was sent, because anybody could have
// sent it who knows the page's address.

const PREFIX = "draft ";
const DAY = 24 * 60 * 60 * 1000; // milliseconds
const LONGEST = 7 * DAY;
// Other marketplaces do not tell the page that they have taken the answer.
const LONGEST_SENT = DAY;
const ASKED_EVERY = 100;
const TIMES_ASKED = 50;

/** The storage of this device, or null where the frame has none. */
function ofDevice() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Delete the drafts of other workers, and those that are too old. */
function tidy(storage, worker, at) {
  const keys = Array.from({ length: storage.length }, (_, place) => storage.key(place));
  for (const key of keys.filter((each) => each.startsWith(PREFIX))) {
    const isMine = key.startsWith(`${PREFIX}${worker} `);
    if (!isMine || !(parsed(storage.getItem(key))?.until > at)) storage.removeItem(key);
  }
}

/** The draft of the page with this address. `fields` are those that were kept, or none. */
export class Draft {
  constructor(address, storage = ofDevice(), now = Date.now) {
    const given = new URLSearchParams(address);
    const [worker, assignment] = [given.get("workerId"), given.get("assignmentId")];
    this.now = now;
    this.key = `${PREFIX}${worker} ${assignment}`;
    this.storage = worker && assignment ? storage : null;
    this.around = null; // posts a message to the page around the frame, if that keeps drafts
    if (this.storage) tidy(this.storage, worker, now());
    this.fields = parsed(this.storage?.getItem(this.key) ?? null)?.fields ?? {};
  }

  keep(fields, { isSent = false } = {}) {
    this.fields = fields;
    const until = this.now() + (isSent ? LONGEST_SENT : LONGEST);
    this.write(JSON.stringify({ until, fields }));
  }

  drop() {
    this.write(null);
  }

  write(text) {
    if (this.around) return this.around(text);
    try {
      if (text === null) this.storage?.removeItem(this.key);
      else this.storage?.setItem(this.key, text);
    } catch {
      // A full storage: the text is still on the page.
    }
  }

  /** Leave the draft to the page around the frame, which has kept this text or null. */
  moveAround(post, text) {
    const kept = parsed(text)?.fields;
    const own = this.fields;
    this.drop();
    this.around = post;
    if (kept) this.fields = kept;
    else if (Object.keys(own).length > 0) this.keep(own);
  }

  /** Ask the page around the frame to keep the draft; call `then` if it does. */
  askAround(then) {
    if (window.parent === window) return;
    let times = 0;
    const timer = setInterval(() => {
      // Its script may be loaded later than this one.
      window.parent.postMessage({ type: "marketplace:draft-wanted" }, "*");
      if ((times += 1) === TIMES_ASKED) clearInterval(timer);
    }, ASKED_EVERY);
    addEventListener("message", ({ source, origin, data }) => {
      if (source !== window.parent || data?.type !== "marketplace:draft" || this.around) return;
      clearInterval(timer);
      const post = (draft) => source.postMessage({ type: "marketplace:draft", draft }, origin);
      this.moveAround(post, data.draft);
      then();
    });
  }
}
