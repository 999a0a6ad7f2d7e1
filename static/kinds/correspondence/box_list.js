// The boxes as a list of buttons, each with a thumbnail: the road to them without a pointer.

import { whenLoaded } from "../zoom.js";
import { crop, scaled } from "./geometry.js";
import { mountRow } from "./keys.js";
import { boxesIn, isTaken } from "./state.js";

const SVG = "http://www.w3.org/2000/svg";

/** Make the list's entries buttons; `choose(value)` is called for a press, `point(value)` while a
 *  box is pointed at or has the focus, and `point(null)` after; `reveal(value)` when it gets the
 *  focus. Returns what shows a state and brings a box forward. */
export function mountBoxList(page, acts) {
  const list = page.task.querySelector("[data-boxes]");
  const buttons = page.boxes.map((box) => boxButton(box, acts));
  mountRow(list, buttons, 0);
  const image = page.task.querySelector("img");
  whenLoaded(image, () => {
    page.boxes.forEach((box, place) => draw(buttons[place].querySelector("svg"), box, image));
  });
  return {
    show(state) {
      page.boxes.forEach((box, place) => showBox(state, box, buttons[place]));
    },
    forward(value) {
      page.boxes.forEach((box, place) => {
        buttons[place].classList.toggle("forward", box.value === value);
      });
    },
  };
}

function boxButton(box, { choose, point, reveal }) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "box-button" });
  const drawing = element("svg", { "aria-hidden": "true" });
  drawing.dataset.tone = box.outline.dataset.tone;
  button.append(drawing, ...box.item.querySelector("a").childNodes);
  button.addEventListener("click", () => choose(box.value));
  for (const name of ["pointerenter", "focus"]) {
    button.addEventListener(name, () => point(box.value));
  }
  button.addEventListener("focus", () => reveal(box.value));
  for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => point(null));
  box.item.replaceChildren(button);
  return button;
}

function showBox(state, box, button) {
  button.setAttribute("aria-pressed", isTaken(state, box.value));
  const isUsed = state.answers.some((answer) => boxesIn(answer).includes(box.value));
  button.classList.toggle("used", isUsed);
}

/** Draw a box and what is around it. */
function draw(drawing, box, image) {
  const size = { width: image.naturalWidth, height: image.naturalHeight };
  const { x, y, width, height } = scaled(box, size.width, size.height);
  const view = crop({ x, y, width, height }, size);
  drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.side} ${view.side}`);
  drawing.append(
    element("image", { href: image.currentSrc || image.src, ...size }),
    element("rect", { x, y, width, height }),
  );
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
