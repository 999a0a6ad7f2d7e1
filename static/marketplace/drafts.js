// Keeps what a worker has not sent from the task in the frame, if the task's page asks for it: in
// this site's storage on the worker's device, for a week at most, until they return the task or sign
// out, or until somebody else signs in.

const PREFIX = "draft ";
const SIGNED_IN = "signed in"; // the key of the worker's id, until they sign out
const LONGEST = 7 * 24 * 60 * 60 * 1000; // milliseconds
const MOST_CHARACTERS = 200_000;

/** The drafts in a storage: each is a text of its page's own, by the worker and the assignment. */
export function draftsIn(storage, now = Date.now) {
  const keys = () => {
    const all = Array.from({ length: storage.length }, (_, place) => storage.key(place));
    return all.filter((key) => key.startsWith(PREFIX));
  };
  const ended = new Set();
  let isOver = false;
  const read = (key) => JSON.parse(storage.getItem(key) ?? "null");
  return {
    get: (worker, assignment) => read(`${PREFIX}${worker} ${assignment}`)?.draft ?? null,
    /** Keep the text, or with null delete what is kept. */
    set(worker, assignment, draft) {
      const key = `${PREFIX}${worker} ${assignment}`;
      if (isOver || ended.has(key)) return;
      if (typeof draft !== "string" || draft.length > MOST_CHARACTERS) storage.removeItem(key);
      else storage.setItem(key, JSON.stringify({ until: now() + LONGEST, draft }));
    },
    /** Delete the draft, and keep no other of the assignment. */
    end(worker, assignment) {
      this.set(worker, assignment, null);
      ended.add(`${PREFIX}${worker} ${assignment}`);
    },
    /** Delete the drafts of all others than this worker, and those that are too old. */
    tidy(worker) {
      for (const key of keys()) {
        const isMine = key.startsWith(`${PREFIX}${worker} `);
        if (!isMine || read(key).until <= now()) storage.removeItem(key);
      }
    },
    any: () => keys().length > 0,
    note: (worker) => storage.setItem(SIGNED_IN, worker),
    /** Whether the worker has not signed out since, and nobody else has signed in. */
    isSignedIn: (worker) => storage.getItem(SIGNED_IN) === worker,
    /** Delete all, and keep nothing that the page in the frame sends after that. */
    clear() {
      isOver = true;
      storage.removeItem(SIGNED_IN);
      keys().forEach((key) => storage.removeItem(key));
    },
  };
}

/** The origin that a frame's page has. A sandbox without `allow-same-origin` makes it "null". */
export function originOf(src, sandbox) {
  return sandbox.split(" ").includes("allow-same-origin") ? new URL(src).origin : "null";
}

/** Ask before a task is returned of which something is kept, and then keep nothing more of it. */
function mountReturn(form, drafts, worker) {
  const { assignment, returns } = form.dataset;
  form.addEventListener("submit", (event) => {
    if (drafts.get(worker, assignment) === null || confirm(returns)) drafts.end(worker, assignment);
    else event.preventDefault();
  });
}

/** Keep the drafts of the page in the frame, and of no page that it leads to. */
function mountFrame(frame, drafts) {
  const { worker, assignment } = frame.dataset;
  const origin = originOf(frame.src, frame.getAttribute("sandbox"));
  addEventListener("message", ({ source, origin: from, data }) => {
    if (source !== frame.contentWindow || from !== origin) return;
    if (data?.type === "marketplace:draft") {
      // Not what somebody writes here who has signed out in another tab.
      drafts.set(worker, assignment, drafts.isSignedIn(worker) ? data.draft : null);
    }
    if (data?.type !== "marketplace:draft-wanted") return;
    const draft = drafts.get(worker, assignment);
    source.postMessage({ type: "marketplace:draft", draft }, origin === "null" ? "*" : origin);
  });
}

function mount(storage) {
  const drafts = draftsIn(storage);
  const worker = document.querySelector("[data-worker]")?.dataset.worker;
  if (worker) drafts.tidy(worker);
  // A page that a browser has kept shows what its worker saw and wrote to whoever goes back to it.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && worker && !drafts.isSignedIn(worker)) location.reload();
  });
  // Not the forms after which the site asks first.
  document.querySelectorAll("[data-signs-out]").forEach((form) => {
    form.addEventListener("submit", (event) => {
      if (drafts.any() && !confirm(form.dataset.signsOut)) event.preventDefault();
      else drafts.clear();
    });
  });
  document.querySelectorAll("[data-returns]").forEach((form) => mountReturn(form, drafts, worker));
  document.querySelectorAll("[data-task-frame='assignment']").forEach((frame) => {
    mountFrame(frame, drafts);
  });
  if (worker) drafts.note(worker); // last, as a full storage refuses it
}

if (globalThis.document) {
  try {
    mount(window.localStorage);
  } catch {
    // A browser without a storage: the task's page alone has what is not sent.
  }
}
