// The page around a task: counts the time down, and offers or takes what comes next after a
// submission.

/** Seconds as a worker reads them: 1:02:03 or 2:03. */
export function clockTime(seconds) {
  const left = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor((left % 3600) / 60);
  const two = (number) => String(number).padStart(2, "0");
  const rest = `${hours ? two(minutes) : minutes}:${two(left % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

/** A clock that runs down; where the page has a notice for the end of the time, it is shown then. */
export function mountTime(element) {
  const end = Date.now() + Number(element.dataset.secondsLeft) * 1000;
  const notice = document.querySelector("[data-time-over]");
  const show = () => {
    const left = (end - Date.now()) / 1000;
    element.textContent = clockTime(left);
    element.classList.toggle("urgent", left < 60);
    if (notice && left <= 0) notice.hidden = false;
  };
  show();
  setInterval(show, 1000);
}

/** The checkbox by which each submission leads straight to the next HIT; the server remembers. */
export function mountAutoAccept(form) {
  form.hidden = false;
  form.elements.on.addEventListener("change", () => {
    fetch(form.action, { method: "POST", body: new FormData(form) });
  });
}

export function mountFrame(frame) {
  addEventListener("message", (event) => {
    // The frame's own site may differ from ours, so what counts is which window it came from.
    // It is a hint and no more: what was submitted, the server knows.
    if (event.source !== frame.contentWindow) return;
    // Submitted in another tab, returned, or too late: this page anew says which, and what next.
    if (event.data === "marketplace:over") location.reload();
    if (event.data !== "marketplace:submitted") return;
    // To whatever site is in the frame by now: it says nothing that is worth keeping from one.
    event.source.postMessage("marketplace:heard", "*");
    document.querySelector("[data-task]").hidden = true;
    const next = document.querySelector("[data-submitted]");
    next.hidden = false;
    const form = next.querySelector("form");
    form.querySelector("button").focus();
    const wantsNext = document.querySelector("[data-auto-accept]")?.elements.on.checked;
    if (wantsNext || "goesOn" in form.dataset) form.requestSubmit();
  });
}

if (globalThis.document) {
  document.querySelectorAll("[data-seconds-left]").forEach(mountTime);
  document.querySelectorAll("[data-auto-accept]").forEach(mountAutoAccept);
  document.querySelectorAll("[data-needs-script]").forEach((part) => {
    part.hidden = false;
  });
  document.querySelectorAll("[data-task-frame]").forEach(mountFrame);
}
