// Keeps what a worker has not sent from the task in the frame, if the task's page asks for it: in
// this site's storage on the worker's device, for a week at most, until they sign out, or until
// somebody else signs in.

const PREFIX = "draft ";
const LONGEST = 7 * 24 * 60 * 60 * 1000; // milliseconds
const MOST_CHARACTERS = 200_000;

/** The drafts in a storage: each is a text of its page's own, by the worker and the assignment. */
export function draftsIn(storage, now = Date.now) {
  const keys = () => {
    const all = Array.from({ length: storage.length }, (_, place) => storage.key(place));
    return all.filter((key) => key.startsWith(PREFIX));
  };
  let isOver = false;
  const read = (key) => JSON.parse(storage.getItem(key) ?? "null");
  return {
    get: (worker, assignment) => read(`${PREFIX}${worker} ${assignment}`)?.draft ?? null,
    /** Keep the text, or with null delete what is kept. */
    set(worker, assignment, draft) {
      if (isOver) return;
      const key = `${PREFIX}${worker} ${assignment}`;
      if (typeof draft !== "string" || draft.length > MOST_CHARACTERS) storage.removeItem(key);
      else storage.setItem(key, JSON.stringify({ until: now() + LONGEST, draft }));
    },
    /** Delete the drafts of all others than this worker, and those that are too old. */
    tidy(worker) {
      for (const key of keys()) {
        const isMine = key.startsWith(`${PREFIX}${worker} `);
        if (!isMine || read(key).until <= now()) storage.removeItem(key);
      }
    },
    any: () => keys().length > 0,
    /** Delete all, and keep nothing that the page in the frame sends after that. */
    clear() {
      isOver = true;
      keys().forEach((key) => storage.removeItem(key));
    },
  };
}

/** The origin that a frame's page has. A sandbox without `allow-same-origin` makes it "null". */
export function originOf(src, sandbox) {
  return sandbox.split(" ").includes("allow-same-origin") ? new URL(src).origin : "null";
}

/** Keep the drafts of the page in the frame, and of no page that it leads to. */
function mountFrame(frame, drafts) {
  const { worker, assignment } = frame.dataset;
  const origin = originOf(frame.src, frame.getAttribute("sandbox"));
  addEventListener("message", ({ source, origin: from, data }) => {
    if (source !== frame.contentWindow || from !== origin) return;
    if (data?.type === "marketplace:draft") drafts.set(worker, assignment, data.draft);
    if (data?.type !== "marketplace:draft-wanted") return;
    const draft = drafts.get(worker, assignment);
    source.postMessage({ type: "marketplace:draft", draft }, origin === "null" ? "*" : origin);
  });
}

function mount(storage) {
  const drafts = draftsIn(storage);
  const worker = document.querySelector("[data-worker]")?.dataset.worker;
  if (worker) drafts.tidy(worker);
  // Not the forms after which the site asks first.
  document.querySelectorAll("[data-signs-out]").forEach((form) => {
    form.addEventListener("submit", (event) => {
      if (drafts.any() && !confirm(form.dataset.signsOut)) event.preventDefault();
      else drafts.clear();
    });
  });
  document.querySelectorAll("[data-task-frame='assignment']").forEach((frame) => {
    mountFrame(frame, drafts);
  });
}

if (globalThis.document) {
  try {
    mount(window.localStorage);
  } catch {
    // A browser without a storage: the task's page alone has what is not sent.
  }
}
