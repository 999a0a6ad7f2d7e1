// A region of an image that can be enlarged: to fill the frame, or step by step.

import { mountZoom, reveal } from "./zoom.js";

const FILLED = 0.8; // of the frame's width or height

/** How many times to enlarge an image so that a region of it fills the frame. Sizes in pixels, as
 *  shown without enlargement. */
export function timesFor(region, frame) {
  return FILLED * Math.min(frame.width / region.width, frame.height / region.height);
}

function mount(task) {
  const viewer = task.querySelector("[data-viewer]");
  const scroller = viewer.querySelector("[data-scroller]");
  const region = viewer.querySelector("[data-region]");
  const button = viewer.querySelector("[data-command=reveal]");
  const zoom = mountZoom(viewer);
  const press = (isPressed) => button.setAttribute("aria-pressed", isPressed);
  viewer.addEventListener("zoomed", () => press(false));
  button.addEventListener("click", () => {
    const isEnlarged = button.ariaPressed !== "true";
    zoom.to(1);
    if (isEnlarged) {
      const frame = { width: scroller.clientWidth, height: scroller.clientHeight };
      zoom.to(timesFor(region.getBoundingClientRect(), frame));
      reveal(viewer, region);
    }
    press(isEnlarged);
  });
  for (const name of ["closer", "farther"]) {
    viewer.querySelector(`[data-command=${name}]`).addEventListener("click", () => zoom.step(name));
  }
  task.classList.add("live");
}

if (globalThis.document) {
  for (const viewer of document.querySelectorAll("[data-viewer]:has([data-region])")) {
    mount(viewer.closest(".task"));
  }
}
