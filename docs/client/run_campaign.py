"""Run a whole campaign by the API: from a folder of photographs to a release on this machine.

    export API_TOKEN=…
    python run_campaign.py photographs/ --site https://captions.example.org --name pilot

It uploads the photographs, selects them, creates and publishes a campaign, waits for the captions,
asks you for verdicts, makes a release and downloads it. You can stop it and start it again with the
same arguments: it continues where it was. Needs Python 3.11 and httpx.
"""

import argparse
import json
import os
import sys
import time
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

SUFFIXES = {".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
AT_ONCE = 20
TRIES = 6
CAMPAIGN_FILE: dict[str, Any] = {
    "references": 1,
    "baselines": 1,
    "budget": "20.00",
    "priming": {"share": 0},
    "workers": {"countries": [], "approved_hits": 0, "approval_rate": 0},
    "review": {"share": 0.2},
}


class Refused(Exception):
    """The site refused a request; the message says why."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem["detail"])
        self.code: str = problem["code"]
        self.status: int = problem["status"]


class Site:
    """The API of a site, used with a token."""

    def __init__(self, url: str, token: str, *, pause: float) -> None:
        self.pause = pause
        self.http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/",
            headers={"Authorization": f"Token {token}"},
            timeout=httpx.Timeout(300, connect=20),
            follow_redirects=True,
        )

    def get(self, path: str, **parameters: Any) -> Any:
        """What an address returns."""
        return self._send("GET", path, params=parameters).json()

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        """What an address returns to a change. Its key makes it safe to send it again."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        if not options:
            options = {"json": {} if body is None else body}
        return self._send("POST", path, headers=headers, **options).json()

    def rows(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page by page."""
        page = self.get(path, **parameters)
        yield from page["results"]
        while page["next"]:
            page = self.get(page["next"])
            yield from page["results"]

    def exists(self, path: str) -> bool:
        """Whether there is something at an address."""
        try:
            self.get(path)
        except Refused as problem:
            if problem.status != 404:
                raise
            return False
        return True

    def download(self, url: str, target: Path) -> None:
        """Store what an address returns in a file."""
        part = target.with_name(target.name + ".part")
        with self.http.stream("GET", url) as answer:
            answer.raise_for_status()
            with part.open("wb") as file:
                for chunk in answer.iter_bytes():
                    file.write(chunk)
        part.replace(target)

    def job(self, job: dict[str, Any]) -> dict[str, Any]:
        """Wait for a job; raises SystemExit if it fails."""
        while job["status"] in {"WAITING", "RUNNING"}:
            time.sleep(self.pause)
            job = self.get(f"jobs/{job['id']}/")
        if job["status"] != "DONE":
            raise SystemExit(f"{job['title']}: {job['error'] or 'cancelled'}")
        return job

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request, again if the site is busy or the connection breaks; raises Refused."""
        for attempt in range(1, TRIES + 1):
            try:
                answer = self.http.request(method, path, **options)
            except httpx.TransportError:
                if attempt == TRIES:
                    raise
                wait = 2.0**attempt
            else:
                if answer.is_success:
                    return answer
                if answer.status_code not in {429, 502, 503, 504} or attempt == TRIES:
                    raise Refused(_problem(answer))
                wait = float(answer.headers.get("Retry-After", 2**attempt))
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _problem(answer: httpx.Response) -> dict[str, Any]:
    if "problem+json" in answer.headers.get("Content-Type", ""):
        problem: dict[str, Any] = answer.json()
        return problem
    return {"detail": answer.reason_phrase, "code": "error", "status": answer.status_code}


def upload(site: Site, folder: Path, split: str) -> int:
    """Upload a folder's images; return how many the site has now. Those it has are not repeated."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    if not files:
        raise SystemExit(f"There are no images in {folder}.")
    stored = 0
    for start in range(0, len(files), AT_ONCE):
        batch = [
            ("file", (path.name, path.read_bytes())) for path in files[start : start + AT_ONCE]
        ]
        done = site.post("images/", data={"split": split}, files=batch)
        stored += done["new"] + done["unchanged"]
        for one in done["left_out"]:
            print(f"  left out: {one['name']} ({one['reason']})")
        print(f"Uploaded {min(start + AT_ONCE, len(files))} of {len(files)} files.")
    return stored


def create(site: Site, name: str, file: dict[str, Any]) -> None:
    """Select all images of the split, and create the campaign on them."""
    if not site.exists(f"selections/{name}/"):
        site.post("selections/", {"name": name, "split": name, "procedure": "all"})
    if not site.exists(f"campaigns/{name}/"):
        site.post("campaigns/", {**file, "name": name, "selection": name})


def publish(site: Site, name: str, *, confirmed: bool) -> None:
    """Show what the campaign costs, and publish it unless it is published."""
    campaign = site.get(f"campaigns/{name}/")
    if campaign["status"] not in {"DRAFT", "PAUSED"}:
        return
    cost = site.get(f"campaigns/{name}/estimate/")
    print(
        f"{cost['responses']} captions cost ${cost['total']} with fees "
        f"(${cost['dollars_per_hour']} an hour). The budget is ${campaign['spend']['budget']}."
    )
    site.job(site.post(f"campaigns/{name}/publish/", {"confirmed": confirmed}))


def collect(site: Site, name: str, *, verdict: str | None) -> None:
    """Wait until all captions are there, and judge those that are to be checked."""
    shown = None
    while True:
        judge(site, name, verdict=verdict)
        progress = site.get(f"campaigns/{name}/")["progress"]
        if shown != progress["submitted"]:
            shown = progress["submitted"]
            print(f"{shown} of {progress['wanted']} captions.")
        if progress["complete"] == progress["tasks"] and not open_checks(site, name):
            return
        time.sleep(site.pause)


def open_checks(site: Site, name: str) -> bool:
    """Whether captions wait for a verdict."""
    rows = site.rows(f"campaigns/{name}/spot-checks/", open="true", limit=1)
    return next(rows, None) is not None


def judge(site: Site, name: str, *, verdict: str | None) -> None:
    """Give a verdict on each caption that is to be checked."""
    while open_checks(site, name):
        items = site.post(f"campaigns/{name}/spot-checks/next/", {"count": 1})
        if not items:
            return
        for item in items:
            given = {"verdict": verdict, "reason": ""} if verdict else ask(item)
            try:
                site.post(f"campaigns/{name}/spot-checks/{item['key']}/verdict/", given)
            except Refused as problem:
                if problem.code != "already_judged":  # Somebody else was faster.
                    raise


def ask(item: dict[str, Any]) -> dict[str, str]:
    """The verdict of the person at the terminal."""
    print(f"\n{item['image_url']}\n{item['answer']}")
    reason = input("Press Enter if it is good, or write what is wrong: ").strip()
    return {"verdict": "BAD" if reason else "GOOD", "reason": reason}


def release(site: Site, name: str, folder: Path) -> list[Path]:
    """Make a release of the campaign, unless it exists; return its downloaded files."""
    if not site.exists(f"releases/{name}/"):
        site.job(site.post(f"campaigns/{name}/releases/", {"name": name}))
    release = site.get(f"releases/{name}/")
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for file, url in release["files"].items():
        site.download(url, folder / file)
        files.append(folder / file)
    return files


def campaign_file(path: Path | None) -> dict[str, Any]:
    """The keys of a campaign file in TOML; without one, two captions for each photograph."""
    if path is None:
        return CAMPAIGN_FILE
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of photographs")
    parser.add_argument("--site", required=True, help="address of the site")
    parser.add_argument("--name", required=True, help="name of split, campaign and release")
    parser.add_argument("--file", type=Path, help="campaign file in TOML")
    parser.add_argument("--out", type=Path, default=Path("release"), help="folder for the release")
    parser.add_argument("--confirm", action="store_true", help="spend real money if it costs some")
    parser.add_argument("--verdict", choices=["GOOD", "BAD"], help="judge all captions so")
    parser.add_argument("--pause", type=float, default=10, help="seconds between two looks")
    options = parser.parse_args()
    token = os.environ.get("API_TOKEN")
    if not token:
        parser.error("Set the variable API_TOKEN to a token of your account.")
    site = Site(options.site, token, pause=options.pause)
    try:
        upload(site, options.folder, options.name)
        create(site, options.name, campaign_file(options.file))
        publish(site, options.name, confirmed=options.confirm)
        collect(site, options.name, verdict=options.verdict)
        files = release(site, options.name, options.out)
    except Refused as problem:
        sys.exit(f"The site refused: {problem}")
    captions = json.loads((options.out / "captions.json").read_text(encoding="utf-8"))
    print(f"{len(captions['annotations'])} captions in {', '.join(map(str, files))}.")


if __name__ == "__main__":
    main()
