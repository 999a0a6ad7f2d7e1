"""Draw an object in its own frame, and record the exact extent of what was drawn."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from PIL import ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]
DARK: Colour = (48, 50, 58)
WOOD: Colour = (140, 98, 66)
WHITE: Colour = (250, 249, 245)


@dataclass(frozen=True)
class Rect:
    """Edges in pixels of the drawing surface."""

    left: float
    top: float
    right: float
    bottom: float

    def joined(self, other: "Rect") -> "Rect":
        return Rect(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def overlap(self, other: "Rect") -> float:
        """The share of this rectangle that the other one covers."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        area = (self.right - self.left) * (self.bottom - self.top)
        return max(0.0, width) * max(0.0, height) / area if area else 0.0


class Pen:
    """Draws in coordinates from 0 to 1 of a frame; `marks` are parts with their own boxes."""

    def __init__(self, draw: ImageDraw.ImageDraw, frame: Rect, *, mirrored: bool = False) -> None:
        self.draw = draw
        self.frame = frame
        self.mirrored = mirrored
        self.extent: Rect | None = None
        self.marks: list[tuple[str, Rect]] = []

    def ellipse(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        rect = self._rect(left, top, right, bottom)
        self.draw.ellipse((rect.left, rect.top, rect.right, rect.bottom), fill=fill)
        self._cover(rect)

    def ring(
        self, left: float, top: float, right: float, bottom: float, fill: Colour, width: float
    ) -> None:
        """Draw the outline of an ellipse; `width` is a share of the frame's height."""
        rect = self._rect(left, top, right, bottom)
        self.draw.ellipse(
            (rect.left, rect.top, rect.right, rect.bottom), outline=fill, width=self._width(width)
        )
        self._cover(rect)

    def box(
        self, left: float, top: float, right: float, bottom: float, fill: Colour, radius: float = 0
    ) -> None:
        """Draw a rectangle with corners rounded by `radius`, a share of the frame's height."""
        rect = self._rect(left, top, right, bottom)
        self.draw.rounded_rectangle(
            (rect.left, rect.top, rect.right, rect.bottom),
            radius=radius * (self.frame.bottom - self.frame.top),
            fill=fill,
        )
        self._cover(rect)

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        corners = [self._point(*point) for point in points]
        self.draw.polygon(corners, fill=fill)
        self._cover_points(corners)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        """Draw a line with round ends; `width` is a share of the frame's height."""
        corners = [self._point(*point) for point in points]
        pixels = self._width(width)
        self.draw.line(corners, fill=fill, width=pixels, joint="curve")
        for x, y in corners:
            self.draw.ellipse(
                (x - pixels / 2, y - pixels / 2, x + pixels / 2, y + pixels / 2), fill=fill
            )
        self._cover_points(corners, pixels / 2)

    @contextmanager
    def mark(self, name: str) -> Iterator[None]:
        """Record a separate box with this class name for what is drawn in the block."""
        outer, self.extent = self.extent, None
        yield
        if self.extent is not None:
            self.marks.append((name, self.extent))
            outer = self.extent.joined(outer) if outer else self.extent
        self.extent = outer

    def _point(self, x: float, y: float) -> Point:
        if self.mirrored:
            x = 1 - x
        frame = self.frame
        return (
            frame.left + x * (frame.right - frame.left),
            frame.top + y * (frame.bottom - frame.top),
        )

    def _rect(self, left: float, top: float, right: float, bottom: float) -> Rect:
        (x1, y1), (x2, y2) = self._point(left, top), self._point(right, bottom)
        return Rect(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))

    def _width(self, share: float) -> int:
        return max(1, round(share * (self.frame.bottom - self.frame.top)))

    def _cover_points(self, points: Sequence[Point], margin: float = 0) -> None:
        across, down = [x for x, _ in points], [y for _, y in points]
        self._cover(
            Rect(min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin)
        )

    def _cover(self, rect: Rect) -> None:
        self.extent = self.extent.joined(rect) if self.extent else rect


@dataclass(frozen=True)
class Drawing:
    """The drawing function of a class, its width divided by its height, and its usual height.

    The height is a fraction of the image's height.
    """

    draw: Callable[[Pen, random.Random], None]
    aspect: float
    height: float
