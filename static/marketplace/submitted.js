// Tells the page around the frame that the answers have arrived.
if (globalThis.window && window.parent !== window) {
  window.parent.postMessage("marketplace:submitted", "*");
}
