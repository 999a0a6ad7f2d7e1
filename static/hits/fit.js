// Lets the marketplace's page around the frame make the frame as high as the task, so that the
// worker scrolls one page. A marketplace that does not know these messages ignores them.

// A keyboard takes more of a window than the bars that a browser hides and shows.
const WITHOUT_KEYBOARD = 0.75;

/** The origins that may hear the messages: those around this page, where the browser names them. */
export function listeners(allowed, around) {
  return around ? allowed.filter((origin) => around.includes(origin)) : allowed;
}

/** The height of the worker's window from a message, or null for any other message. */
export function windowHeight(data) {
  if (data?.type !== "marketplace:window") return null;
  const { height } = data;
  return Number.isFinite(height) && height > 0 ? Math.min(height, 10_000) : null;
}

/** How much of the window's height a phone's keyboard leaves; null if no keyboard is open. */
export function leftByKeyboard({ height, visible }) {
  return visible > 0 && visible < height * WITHOUT_KEYBOARD ? visible : null;
}

/** While the worker types, make the image and the field fit above the keyboard. */
function fitAbove(visible) {
  const root = document.documentElement;
  const field = document.activeElement;
  const isTyping = visible !== null && field?.matches(".task textarea");
  root.classList.toggle("typing", isTyping);
  if (!isTyping) return;
  root.style.setProperty("--visible", `${visible}px`);
  // The page around the frame scrolls, too.
  field.closest(".task").querySelector("figure").scrollIntoView({ block: "start" });
}

function mountFit(body) {
  const allowed = body.dataset.fits.split(" ");
  const around = window.location.ancestorOrigins;
  const origins = listeners(allowed, around && [...around]);
  const tell = () => {
    // The content's height; the document itself is never lower than the frame.
    const height = Math.ceil(body.getBoundingClientRect().height);
    for (const origin of origins) {
      window.parent.postMessage({ type: "marketplace:height", height }, origin);
    }
  };
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== window.parent || !allowed.includes(origin)) return;
    const height = windowHeight(data);
    if (height === null) return;
    // From now on the frame's height follows from the content, so the content must not follow
    // from the frame's height.
    document.documentElement.style.setProperty("--window", `${height}px`);
    document.documentElement.classList.add("fitted");
    fitAbove(leftByKeyboard(data));
  });
  new ResizeObserver(tell).observe(body);
}

/** A page without a frame around it sees the keyboard itself. */
function mountKeyboard(viewport) {
  const height = window.innerHeight;
  viewport.addEventListener("resize", () => {
    fitAbove(leftByKeyboard({ height, visible: viewport.height * viewport.scale }));
  });
}

if (globalThis.document) {
  if (window.parent !== window) document.querySelectorAll("[data-fits]").forEach(mountFit);
  else if (window.visualViewport) mountKeyboard(window.visualViewport);
}
