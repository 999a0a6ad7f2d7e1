// Loads the previews of the task page anew when a step was stored.

/** Load the frames anew that show what the draft has. */
export function reload(frames) {
  for (const frame of frames) frame.src = frame.getAttribute("src");
}

export function mount(form) {
  const seen = () => document.getElementById("seen")?.value;
  let shown = seen();
  document.body.addEventListener("htmx:afterSettle", () => {
    if (seen() === shown) return;
    shown = seen();
    reload(document.querySelectorAll("iframe[data-preview]"));
  });
  return form;
}

if (globalThis.document) document.querySelectorAll("#step-form").forEach(mount);
