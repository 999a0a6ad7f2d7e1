// The image with its boxes: pointing at them, bringing one forward, zooming.

import { boxesAt, scaled, scrollKept, zoomed } from "./geometry.js";
import { whenLoaded } from "./page.js";
import { isTaken } from "./state.js";

const REACH = { mouse: 6, pen: 8, touch: 12 }; // pixels within which an outline is taken
const STEP = 1.5;

/** Let the image's boxes be chosen: `press(values, last)` is called with the boxes at a pressed
 *  place and the box that the same place gave before, and returns the box that it gives now;
 *  `point(value)` with the box under the pointer. Returns what shows a state, brings a box
 *  forward, scrolls to one, and zooms. */
export function mountPicture(page, acts) {
  const viewer = page.task.querySelector("[data-viewer]");
  const frame = viewer.querySelector("[data-frame]");
  const image = frame.querySelector("img");
  whenLoaded(image, () => {
    viewer.style.setProperty("--aspect", image.naturalWidth / image.naturalHeight);
  });
  mountPointer(page, frame, acts);
  const boxOf = (value) => page.boxes.find((box) => box.value === value);
  return {
    zoom: mountZoom(viewer, frame),
    reveal: (value) => reveal(viewer.querySelector("[data-scroller]"), boxOf(value).outline),
    show(state) {
      for (const { value, outline } of page.boxes) {
        outline.classList.toggle("linked", isTaken(state, value));
      }
    },
    forward(value) {
      frame.classList.toggle("has-forward", value !== null);
      for (const box of page.boxes) box.outline.classList.toggle("forward", box.value === value);
      const box = boxOf(value);
      frame.querySelector("[data-shade]").setAttribute("d", box ? around(box) : "");
      if (box) box.outline.parentNode.append(box.outline); // drawn last, over the others
    },
  };
}

/** All of the image except a box. */
function around({ x, y, width, height }) {
  return `M0 0H1V1H0Z M${x} ${y}h${width}v${height}h${-width}Z`;
}

function mountPointer(page, frame, { press, point }) {
  const svg = frame.querySelector("svg");
  let last = null; // what was pressed last: the place, and the box that it gave

  const found = (event) => {
    const { left, top, width, height } = svg.getBoundingClientRect();
    const reach = REACH[event.pointerType] ?? REACH.mouse;
    const shown = page.boxes.map((box) => scaled(box, width, height));
    const place = { x: event.clientX - left, y: event.clientY - top };
    return { values: boxesAt(shown, place, reach).map((box) => box.value), reach };
  };

  svg.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    point(last?.isHere(event) ? last.value : (found(event).values[0] ?? null));
  });
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("click", (event) => {
    if (page.task.disabled) return;
    const { values, reach } = found(event);
    const isHere = ({ clientX, clientY }) =>
      Math.hypot(clientX - event.clientX, clientY - event.clientY) <= reach;
    last = { isHere, value: press(values, last?.isHere(event) ? last.value : null) };
    point(last.value);
  });
}

/** Scroll the enlarged image so that the middle of a box is in its middle. */
function reveal(scroller, outline) {
  const seen = scroller.getBoundingClientRect();
  const box = outline.getBoundingClientRect();
  scroller.scrollLeft += box.left + box.width / 2 - (seen.left + seen.width / 2);
  scroller.scrollTop += box.top + box.height / 2 - (seen.top + seen.height / 2);
}

function mountZoom(viewer, frame) {
  const scroller = viewer.querySelector("[data-scroller]");
  let zoom = 1;

  const middle = () => ({ x: scroller.clientWidth / 2, y: scroller.clientHeight / 2 });
  const zoomBy = (factor, place = middle()) => {
    const before = zoom;
    zoom = zoomed(zoom, factor);
    frame.style.setProperty("--zoom", zoom);
    scroller.scrollLeft = scrollKept(scroller.scrollLeft, place.x, zoom / before);
    scroller.scrollTop = scrollKept(scroller.scrollTop, place.y, zoom / before);
    scroller.tabIndex = zoom > 1 ? 0 : -1;
    viewer.querySelector("[data-zoom-level]").value = `${Math.round(zoom * 100)}%`;
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
  return (command) => zoomBy(command === "closer" ? STEP : 1 / STEP);
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
