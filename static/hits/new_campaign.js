// Loads the previews of the task page anew when a step was stored, lets a button wait while one is
// being stored, and stores what was entered last when the page is left.

const NOT_SAVED = "Not saved. Your entries are still on this page.";

/** Load the frames anew. Each is shown as it was until the new one is there. */
export function reload(frames) {
  for (const frame of frames) {
    const next = frame.cloneNode();
    next.classList.add("loading");
    next.addEventListener("load", () => {
      next.classList.remove("loading");
      frame.remove();
    });
    frame.after(next);
  }
}

/** Store the last entries, too, of somebody who leaves by a link in the moment before they are. */
function storeOnLeaving(form, isStoring) {
  let isStored = true;
  const note = (is) => () => (isStored = is);
  form.addEventListener("input", note(false));
  for (const name of ["htmx:beforeRequest", "submit"]) form.addEventListener(name, note(true));
  const store = () => {
    if (isStored) return;
    isStored = true;
    const body = new URLSearchParams(new FormData(form));
    if (isStoring()) body.set("anyway", "yes"); // of this page's own, which it has not seen yet
    const headers = { "HX-Request": "true" };
    fetch(form.getAttribute("action"), { method: "POST", body, headers, keepalive: true });
  };
  for (const name of ["beforeunload", "pagehide"]) addEventListener(name, store);
}

export function mount(form) {
  const seen = () => document.getElementById("seen")?.value;
  let shown = seen();
  document.body.addEventListener("htmx:afterSettle", () => {
    if (seen() === shown) return;
    shown = seen();
    for (const late of document.querySelectorAll("iframe.loading")) late.remove();
    reload(document.querySelectorAll("iframe[data-preview]"));
  });
  // Sent at once, the entries would not know what is being stored, and be taken for another tab's.
  let pressed = null;
  const isStoring = () => form.classList.contains("htmx-request");
  form.addEventListener("submit", (event) => {
    if (!isStoring()) return;
    event.preventDefault();
    pressed = event.submitter;
  });
  form.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.xhr.status !== 200) document.getElementById("saved").value = NOT_SAVED;
    if (pressed) form.requestSubmit(pressed);
    pressed = null;
  });
  storeOnLeaving(form, isStoring);
  return form;
}

if (globalThis.document) document.querySelectorAll("#step-form").forEach(mount);
