// The page around a task: counts the time down, and offers or takes what comes next after a
// submission.

import { originOf } from "./drafts.js";

/** Seconds as a worker reads them: 1:02:03 or 2:03. */
export function clockTime(seconds) {
  const left = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor((left % 3600) / 60);
  const two = (number) => String(number).padStart(2, "0");
  const rest = `${hours ? two(minutes) : minutes}:${two(left % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

/** A clock that runs down; where the page has a notice for the end of the time, it is shown then,
 *  and the page in the frame is told. */
export function mountTime(element) {
  const end = Date.now() + Number(element.dataset.secondsLeft) * 1000;
  const notice = document.querySelector("[data-time-over]");
  const frame = document.querySelector("[data-task-frame='assignment']");
  const show = () => {
    const left = (end - Date.now()) / 1000;
    element.textContent = clockTime(left);
    element.classList.toggle("urgent", left < 60);
    if (!notice || left > 0) return;
    notice.hidden = false;
    // Again and again: the frame's page may be loading.
    frame?.contentWindow.postMessage("marketplace:time-over", "*");
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

const LOWEST = 200;
const HIGHEST = 30_000;

/** The frame's height from a message, kept within reason; null for any other message. */
export function frameHeight(data) {
  if (data?.type !== "marketplace:height" || !Number.isFinite(data.height)) return null;
  return Math.min(HIGHEST, Math.max(LOWEST, Math.ceil(data.height)));
}

/** Makes the frame as high as its page says, if it says so, and tells it the window's height, and
 *  how much of it a phone's keyboard leaves. */
function mountHeight(frame) {
  const origin = originOf(frame.src, frame.getAttribute("sandbox"));
  let height = window.innerHeight;
  const tellWindow = () => {
    const target = origin === "null" ? "*" : origin;
    const { height: seen, scale } = window.visualViewport ?? { height, scale: 1 };
    const visible = seen * scale; // at any zoom
    frame.contentWindow.postMessage({ type: "marketplace:window", height, visible }, target);
  };
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== origin) return;
    const wanted = frameHeight(event.data);
    if (wanted === null) return;
    if (!frame.classList.contains("fitted")) {
      frame.classList.add("fitted");
      tellWindow();
      // A phone's on-screen keyboard does not change the height, so only changes of the width do.
      let width = window.innerWidth;
      addEventListener("resize", () => {
        if (width === window.innerWidth) return;
        width = window.innerWidth;
        height = window.innerHeight;
        tellWindow();
      });
      window.visualViewport?.addEventListener("resize", tellWindow);
    }
    // The frame's border comes on top.
    frame.style.height = `${wanted + frame.offsetHeight - frame.clientHeight}px`;
  });
}

function mountSubmission(frame) {
  addEventListener("message", (event) => {
    // The frame's own site may differ from ours, so what counts is which window it came from.
    // It is a hint and no more: what was submitted, the server knows.
    if (event.source !== frame.contentWindow) return;
    // Submitted in another tab, or returned: this page anew says which, and what next.
    if (event.data === "marketplace:over") location.reload();
    // The frame shows what was written.
    if (event.data === "marketplace:late") document.querySelector("[data-time-over]").hidden = false;
    const isLast = event.data === "marketplace:submitted-last";
    if (event.data !== "marketplace:submitted" && !isLast) return;
    // To any site that is in the frame by now: the message has nothing to hide from one.
    event.source.postMessage("marketplace:heard", "*");
    document.querySelector("[data-task]").hidden = true;
    document.querySelector("[data-time-over]")?.remove(); // the clock no longer matters
    // The page says the same as the frame, and more.
    frame.hidden = true;
    const next = document.querySelector("[data-submitted]");
    next.hidden = false;
    window.scrollTo(0, 0);
    if (isLast) {
      next.querySelector("[data-none-left]").hidden = false;
      next.querySelector("[data-accept-next]").hidden = true;
      next.querySelector("a").focus();
      return;
    }
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
  document.querySelectorAll("[data-task-frame]").forEach(mountHeight);
  document.querySelectorAll("[data-task-frame='assignment']").forEach(mountSubmission);
}
