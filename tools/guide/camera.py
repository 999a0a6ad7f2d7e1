"""Take pictures of pages, as small WebP files."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

DESKTOP, PHONE = (1200, 760), (390, 760)
MOST_BYTES = 120_000
GAP = 24
BACKGROUND = "#d9dedc"


class Camera:
    """Writes pictures into a folder, and remembers their names."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.taken: list[str] = []

    def take(self, name: str, page: Page, *, height: int = DESKTOP[1], top: str = "") -> None:
        """Take the page's upper part, or the part of this height that begins at an element."""
        self._write(name, shot(page, height, page.locator(top).first if top else None))

    def side_by_side(self, name: str, shots: Sequence[Image.Image]) -> None:
        """Put pictures of a phone beside each other."""
        width = sum(one.width for one in shots) + GAP * (len(shots) + 1)
        whole = Image.new("RGB", (width, max(one.height for one in shots) + 2 * GAP), BACKGROUND)
        left = GAP
        for one in shots:
            whole.paste(one, (left, GAP))
            left += one.width + GAP
        self._write(name, whole)

    def _write(self, name: str, picture: Image.Image) -> None:
        path = self.folder / f"{name}.webp"
        for quality in (82, 70, 55):
            picture.save(path, quality=quality, method=6)
            if path.stat().st_size <= MOST_BYTES:
                break
        else:
            raise RuntimeError(f"{path.name} has more than {MOST_BYTES:,} bytes")
        self.taken.append(path.name)
        print(f"{path.stat().st_size / 1000:6.1f} kB  {path.name}", flush=True)


def shot(page: Page, height: int, top: Locator | None = None) -> Image.Image:
    """The picture of a page as wide as its window, once its images are there and nothing moves."""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": height})
    page.evaluate("document.activeElement?.blur()")
    if top is None:
        page.evaluate("scrollTo(0, 0)")
    else:
        top.evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 16)")
    page.wait_for_load_state("networkidle")
    picture = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
    return picture.convert("RGB")
