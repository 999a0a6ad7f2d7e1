// Tells the page around the frame what became of the answers.

/** The message to the page around about a submission that ended like this. */
export const MESSAGES = {
  accepted: "marketplace:submitted",
  last: "marketplace:submitted-last",
  over: "marketplace:over",
  late: "marketplace:late",
};

if (globalThis.window && window.parent !== window) {
  // Once that page has heard it, it offers what comes next itself, and the links here are not
  // needed.
  addEventListener("message", (event) => {
    if (event.source !== window.parent || event.data !== "marketplace:heard") return;
    document.querySelector("[data-next]").hidden = true;
  });
  window.parent.postMessage(MESSAGES[document.body.dataset.submission], "*");
}
