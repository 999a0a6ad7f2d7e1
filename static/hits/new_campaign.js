// Loads the previews of the task page anew when a step was stored.

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

export function mount(form) {
  const seen = () => document.getElementById("seen")?.value;
  let shown = seen();
  document.body.addEventListener("htmx:afterSettle", () => {
    if (seen() === shown) return;
    shown = seen();
    for (const late of document.querySelectorAll("iframe.loading")) late.remove();
    reload(document.querySelectorAll("iframe[data-preview]"));
  });
  return form;
}

if (globalThis.document) document.querySelectorAll("#step-form").forEach(mount);
