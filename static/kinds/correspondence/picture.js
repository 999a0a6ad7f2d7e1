// The image with its boxes: pointing at them, bringing one forward.

import { mountZoom, reveal } from "../zoom.js";
import { boxesAt, scaled } from "./geometry.js";
import { isTaken } from "./state.js";

const REACH = { mouse: 6, pen: 8, touch: 12 }; // pixels within which an outline is taken

/** Let the image's boxes be chosen: `press(values, last)` is called with the boxes at a pressed
 *  place and the box that the same place gave before, and returns the box that it gives now;
 *  `point(value)` with the box under the pointer. Returns what shows a state, brings a box
 *  forward, scrolls to one, and zooms. */
export function mountPicture(page, acts) {
  const viewer = page.task.querySelector("[data-viewer]");
  const frame = viewer.querySelector("[data-frame]");
  mountPointer(page, frame, acts);
  const boxOf = (value) => page.boxes.find((box) => box.value === value);
  return {
    zoom: mountZoom(viewer).step,
    reveal: (value) => reveal(viewer, boxOf(value).outline),
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
