// An image that can be enlarged inside its frame: by buttons, by a pinch, by Ctrl and the wheel.

const MOST = 8;
const STEP = 1.5;

/** A zoom `factor` times as large, from the whole image up to eight times its size. */
export function zoomed(zoom, factor) {
  return Math.min(MOST, Math.max(1, zoom * factor));
}

/** How far to scroll so that the image's point at `place` in the view stays there. */
export function scrollKept(scroll, place, ratio) {
  return (scroll + place) * ratio - place;
}

/** Scroll the enlarged image so that the middle of a box is in its middle. */
export function reveal(viewer, outline) {
  const scroller = viewer.querySelector("[data-scroller]");
  const seen = scroller.getBoundingClientRect();
  const box = outline.getBoundingClientRect();
  scroller.scrollLeft += box.left + box.width / 2 - (seen.left + seen.width / 2);
  scroller.scrollTop += box.top + box.height / 2 - (seen.top + seen.height / 2);
}

/** Let an image be enlarged by pinch, by wheel and by `step("closer")` or `step("farther")`; `to`
 *  enlarges it this many times. The viewer gets a `zoomed` event each time. */
export function mountZoom(viewer) {
  const frame = viewer.querySelector("[data-frame]");
  const scroller = viewer.querySelector("[data-scroller]");
  let zoom = 1;
  const image = frame.querySelector("img");
  const shape = (width, height) => viewer.style.setProperty("--aspect", width / height);
  const [width, height] = ["width", "height"].map((name) => image.getAttribute(name));
  if (height) shape(width, height); // before the file is there
  whenLoaded(image, ({ naturalWidth, naturalHeight }) => shape(naturalWidth, naturalHeight));

  const middle = () => ({ x: scroller.clientWidth / 2, y: scroller.clientHeight / 2 });
  const zoomBy = (factor, place = middle()) => {
    const before = zoom;
    zoom = zoomed(zoom, factor);
    frame.style.setProperty("--zoom", zoom);
    scroller.scrollLeft = scrollKept(scroller.scrollLeft, place.x, zoom / before);
    scroller.scrollTop = scrollKept(scroller.scrollTop, place.y, zoom / before);
    scroller.tabIndex = zoom > 1 ? 0 : -1;
    viewer.querySelector("[data-zoom-level]").value = `${Math.round(zoom * 100)}%`;
    viewer.dispatchEvent(new Event("zoomed"));
  };
  const placeOf = ({ clientX, clientY }) => {
    const { left, top } = scroller.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };

  // A pinch on a trackpad comes as a wheel that turns while Ctrl is held.
  scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY / 200), placeOf(event));
  }, { passive: false });
  mountPinch(scroller, (factor, place) => zoomBy(factor, placeOf(place)));
  return {
    step: (command) => zoomBy(command === "closer" ? STEP : 1 / STEP),
    to: (times) => zoomBy(times / zoom),
  };
}

/** Call `act` with the image once its size is known. */
export function whenLoaded(image, act) {
  if (image.complete && image.naturalWidth > 0) act(image);
  else image.addEventListener("load", () => act(image), { once: true });
}

/** Call `zoomBy` with the factor and the middle of each movement of two fingers. */
function mountPinch(scroller, zoomBy) {
  let apart = 0;
  const fingers = ({ touches: [a, b] }) => ({
    apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
    middle: { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 },
  });
  scroller.addEventListener("touchstart", (event) => {
    if (event.touches.length === 2) apart = fingers(event).apart;
  }, { passive: true });
  scroller.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const now = fingers(event);
    zoomBy(now.apart / apart, now.middle);
    apart = now.apart;
  }, { passive: false });
}
