import assert from "node:assert/strict";
import { test } from "node:test";

import {
  boxBelow,
  boxesAt,
  crop,
  scaled,
} from "../../static/kinds/correspondence/geometry.js";
import { scrollKept, zoomed } from "../../static/kinds/zoom.js";

const whole = { name: "whole", x: 0, y: 0, width: 400, height: 300 };
const large = { name: "large", x: 50, y: 50, width: 200, height: 200 };
const small = { name: "small", x: 100, y: 100, width: 60, height: 60 };
const line = { name: "line", x: 100, y: 280, width: 200, height: 1 };

const namesAt = (x, y, boxes = [whole, large, small, line], reach = 6) =>
  boxesAt(boxes, { x, y }, reach).map((box) => box.name);

test("of the boxes around a point the smallest comes first, whatever their order", () => {
  assert.deepEqual(namesAt(130, 130), ["small", "large", "whole"]);
  assert.deepEqual(namesAt(130, 130, [small, whole, large]), ["small", "large", "whole"]);
});

test("an outline near the point comes before boxes around it", () => {
  assert.deepEqual(namesAt(53, 130), ["large", "whole"]);
  assert.deepEqual(namesAt(3, 150), ["whole"]);
  assert.deepEqual(namesAt(102, 130, [large, small]), ["small", "large"]);
  assert.deepEqual(namesAt(0, 0, [whole, { ...small, x: 0, y: 0 }]), ["small", "whole"]);
});

test("a box that another covers can be taken by its edge", () => {
  const beneath = { name: "beneath", x: 90, y: 90, width: 80, height: 80 };

  assert.equal(namesAt(91, 130, [small, beneath])[0], "beneath");
});

test("a box of no height can be pointed at, from a little outside as well", () => {
  assert.equal(namesAt(200, 284)[0], "line");
  assert.equal(namesAt(200, 292)[0], "whole");
  assert.equal(namesAt(304, 283)[0], "line");
});

test("each of forty boxes on top of each other is the first somewhere on its outline", () => {
  const boxes = [whole, ...Array.from({ length: 39 }, (_, n) => boxNumber(n))];

  for (const box of boxes) {
    const shares = Array.from({ length: 21 }, (_, step) => step / 20);
    const outline = shares.flatMap((share) => [
      { x: box.x + share * box.width, y: box.y },
      { x: box.x + box.width, y: box.y + share * box.height },
    ]);
    assert.ok(outline.some((place) => boxesAt(boxes, place, 6)[0] === box), box.name);
  }
});

/** Boxes of all sizes from 4 pixels up, scattered over the image by multiples of odd numbers. */
function boxNumber(n) {
  const x = (n * 67) % 380;
  const y = (n * 41) % 280;
  const width = Math.min(400 - x, 4 + ((n * 29) % 200));
  return { name: `box ${n}`, x, y, width, height: Math.min(300 - y, 4 + ((n * 53) % 150)) };
}

test("outside all boxes there is none", () => {
  assert.deepEqual(namesAt(450, 20), []);
});

test("below a box is the next at its place, and below the last nothing", () => {
  assert.equal(boxBelow(["a", "b"], "a"), "b");
  assert.equal(boxBelow(["a", "b"], "b"), null);
  assert.equal(boxBelow(["a"], "gone"), "a");
});

test("fractions become pixels of the image as shown", () => {
  const box = scaled({ value: "box:1", x: 0.5, y: 0.25, width: 0.1, height: 1 }, 200, 100);

  assert.deepEqual(box, { value: "box:1", x: 100, y: 25, width: 20, height: 100 });
});

test("the zoom stays between the whole image and eight times its size", () => {
  assert.equal(zoomed(1, 0.5), 1);
  assert.equal(zoomed(6, 1.5), 8);
  assert.equal(zoomed(2, 1.5), 3);
});

test("zooming keeps the place under the pointer", () => {
  const [scroll, place, ratio] = [30, 100, 1.5];

  const after = scrollKept(scroll, place, ratio);

  assert.equal((after + place) / ratio, scroll + place);
});

test("a thumbnail is a square around the box, inside the image where it fits", () => {
  const image = { width: 400, height: 300 };

  const inside = { x: 100, y: 100, width: 100, height: 50 };
  const corner = { x: 0, y: 250, width: 50, height: 50 };

  assert.deepEqual(crop(inside, image), { x: 85, y: 60, side: 130 });
  assert.deepEqual(crop(corner, image), { x: 0, y: 235, side: 65 });
});

test("a thumbnail of the whole image shows all of it in the middle", () => {
  assert.deepEqual(crop(whole, { width: 400, height: 300 }), { x: 0, y: -50, side: 400 });
});
