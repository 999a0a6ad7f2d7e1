"""Take the pictures of the user guide: `python -m tools.guide`.

Makes the demonstration if there is none yet, serves a copy of it, and drives Chromium through what
a researcher, a reviewer, an operator and a worker do. The pages in `docs/` show the pictures.
"""

import argparse
import os
import shutil
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from hits.local.processes import SITE_PORT
from tools.guide import people, researcher
from tools.guide.sites import demonstration
from tools.guide.story import MILLISECONDS, Camera, Story

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images", metavar="DIR")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "guide", metavar="DIR", help="demonstration"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=SITE_PORT,
        help="port of the site, the next is the marketplace's",
    )
    asked = parser.parse_args()
    chromium = os.environ.get("CHROMIUM", "") or shutil.which("chromium")
    if not chromium:
        parser.error("Chromium is not installed (Debian's package is called chromium).")
    expect.set_options(timeout=MILLISECONDS)
    with demonstration(asked.work.resolve(), asked.port) as sites, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        story = Story(sites, browser, Camera(asked.out))
        researcher.make_campaign(story)
        people.work(story, people.invite(story))
        people.caption(story, researcher.publish_pilot(story))
        researcher.fill_pilot(story)
        researcher.watch(story)
        people.review(story)
        researcher.release(story)
        people.gather(story)
        people.operate(story)
        browser.close()
    print(f"{len(story.camera.taken)} pictures in {asked.out}")


if __name__ == "__main__":
    main()
