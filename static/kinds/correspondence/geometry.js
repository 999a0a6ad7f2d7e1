// Where boxes lie: which of them a pointer means.
// Boxes are { x, y, width, height }; boxes and points share one unit.

/** A box given in fractions of an image, in pixels of the image shown so large. */
export function scaled({ x, y, width, height, ...rest }, across, down) {
  return { ...rest, x: x * across, y: y * down, width: width * across, height: height * down };
}

/** How far a point is from a box's outline. */
function distanceToEdge(box, { x, y }) {
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  const outX = Math.max(box.x - x, 0, x - right);
  const outY = Math.max(box.y - y, 0, y - bottom);
  if (outX > 0 || outY > 0) return Math.hypot(outX, outY);
  return Math.min(x - box.x, right - x, y - box.y, bottom - y);
}

function contains(box, { x, y }) {
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/** The boxes at a point, the likeliest first: those whose outline is within `reach` by their
 *  distance, so that a box which others hide can be taken by its edge; then those around the
 *  point. Small before large where that says nothing. */
export function boxesAt(boxes, point, reach) {
  const far = ({ distance }) => (distance <= reach ? distance : Infinity);
  return boxes
    .map((box) => ({ box, distance: distanceToEdge(box, point), area: box.width * box.height }))
    .filter((found) => found.distance <= reach || contains(found.box, point))
    .sort((a, b) => (far(a) === far(b) ? a.area - b.area : far(a) - far(b)))
    .map(({ box }) => box);
}

/** The box that comes after `last` where the same place is pressed again; null after the last. */
export function boxBelow(found, last) {
  return found[found.indexOf(last) + 1] ?? null;
}

/** The square around a box with some of its surroundings, moved into the image where it fits. */
export function crop(box, image) {
  const most = Math.max(image.width, image.height);
  const side = Math.min(most, Math.max(1, 1.3 * Math.max(box.width, box.height)));
  const inside = (middle, size) => {
    if (side > size) return (size - side) / 2;
    return Math.max(0, Math.min(middle - side / 2, size - side));
  };
  return {
    x: inside(box.x + box.width / 2, image.width),
    y: inside(box.y + box.height / 2, image.height),
    side,
  };
}
