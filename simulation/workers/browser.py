"""A worker's browser: the marketplace's pages and the task in its frame, over HTTP."""

import re
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import product
from urllib.parse import urljoin, urlsplit

import PIL.Image
import requests
from bs4 import BeautifulSoup, Tag

from hits.services.first_questions import CELL

TIMEOUT = (5, 60)
ATTEMPTS = 4
RELOADS_AFTER = 1.0
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class SiteError(Exception):
    """A page cannot be used by a worker's browser."""


@dataclass(frozen=True)
class Item:
    """One task of a page: its part of the form, and the URL of its image."""

    part: Tag
    image: str


@dataclass(frozen=True)
class TaskForm:
    """The task's form: its items, its hidden fields and what the first page of a campaign asks,
    problems of an earlier answer, and the values of each rating that it asks for before its items.
    """

    action: str
    hidden: dict[str, str]
    items: list[Item]
    problems: list[str]
    ratings: dict[str, list[str]] = field(default_factory=dict)


class NotOffered(Exception):
    """The marketplace has no HIT of the group for this worker."""


@dataclass(frozen=True)
class Accepted:
    """An accepted HIT: the URLs of its page at the marketplace and of its frame."""

    page: str
    frame: str


class NothingLeft(Exception):
    """The task page has no task for this worker and asks to return the HIT."""


@dataclass
class WorkerBrowser:
    """The browser of one worker. Not thread-safe."""

    sign_in_url: str
    http: requests.Session = field(default_factory=requests.Session)
    token: str = ""
    is_signed_in: bool = False
    seen_images: set[str] = field(default_factory=set)
    # Answers a question of a practice: `good` or `bad` for an image's URL and a caption, or a
    # caption if there is none.
    practise: Callable[[str, str], str] = lambda _image, _text: "good"

    def __post_init__(self) -> None:
        # Do not look for a proxy for local addresses: that takes time with each request.
        self.http.trust_env = urlsplit(self.sign_in_url).hostname not in LOOPBACK

    @property
    def site(self) -> str:
        return urljoin(self.sign_in_url, "/").rstrip("/")

    def sign_in(self) -> None:
        """Sign in with the link, unless this was done before."""
        if self.is_signed_in:
            return
        page = self._get(self.sign_in_url)
        if not page.ok:
            raise SiteError(f"Signing in was answered with {page.status_code}.")
        self.is_signed_in = True

    def offers(self, group: str) -> bool:
        """Whether the list of HITs contains this group with a button to accept."""
        page = _soup(self._get(f"{self.site}/"))
        row = page.select_one(f'[data-group="{group}"]')
        return row is not None and self._keep_token(row)

    def preview(self, group: str) -> None:
        """Open a HIT's preview, as people do before accepting; raises NotOffered."""
        answer = self._get(f"{self.site}/groups/{group}/preview")
        # Other workers may have taken the remaining HITs meanwhile.
        frame = self._frame(answer, or_else=NotOffered("There is nothing to preview."))
        page = _soup(_checked(self._get(frame)))
        if page.select_one("[data-preview] ~ form[data-task]") is None:
            raise SiteError("The preview shows no task.")

    def accept(self, group: str) -> Accepted:
        """Accept a HIT of the group; raises NotOffered."""
        address = f"{self.site}/groups/{group}/accept"
        answer = self._post(address, {"csrfmiddlewaretoken": self.token})
        missing = SiteError("The page of an accepted HIT has no frame.")
        return Accepted(answer.url, self._frame(answer, or_else=missing))

    def _frame(self, answer: requests.Response, *, or_else: Exception) -> str:
        """The URL of a HIT's frame; raises NotOffered, or `or_else` if the page has none."""
        if answer.status_code in {403, 404, 409}:
            raise NotOffered(f"The marketplace answered {answer.status_code}.")
        page = _soup(_checked(answer))
        frame = page.select_one("iframe[src]")
        if frame is None:
            raise or_else
        self._keep_token(page)
        return str(frame["src"])

    def give_back(self, accepted: Accepted) -> None:
        """Return the HIT."""
        address = f"{accepted.page}/return"
        _checked(self._post(address, {"csrfmiddlewaretoken": self.token}))

    def open_task(self, accepted: Accepted) -> TaskForm | None:
        """Open the frame, practise if the page asks for it, and load the images.

        Returns None if the practice was all there was to submit. Raises NothingLeft.
        """
        for _ in range(ATTEMPTS - 1):
            answer = self._get(accepted.frame)
            if answer.status_code != 404:
                break
            # The marketplace shows a HIT a moment before the site has noted it.
            time.sleep(RELOADS_AFTER)
        else:
            answer = self._get(accepted.frame)
        answer = self._practised(_checked(answer))
        if _soup(answer).select_one("form[data-forward]"):
            self._forward(answer)
            return None
        return self._task_form(answer)

    def _practised(self, answer: requests.Response) -> requests.Response:
        """The page after the practice, or the same page if it has none; raises NothingLeft."""
        while form := _soup(answer).select_one("form[data-practice]"):
            fields = hidden_fields(form)
            if form.select_one("[name=answer]"):
                graded = form.select_one("[data-graded]")
                image = str(form.select("img[data-task-image]")[0]["src"])
                self._load_images(answer.url, [image])
                fields["answer"] = self.practise(image, graded.get_text() if graded else "")
            elif form.select_one("button") is None:
                raise NothingLeft
            answer = _checked(self._post(answer.url, fields))
        return answer

    def send(self, task: TaskForm, answers: Mapping[str, str]) -> TaskForm | None:
        """Submit the task's form.

        Returns None if the answer was accepted and passed to the marketplace, else the form with
        the problems to correct.
        """
        answer = self._post(task.action, {**task.hidden, **answers})
        if answer.status_code == 422:
            return self._task_form(answer)
        self._forward(_checked(answer))
        return None

    def _forward(self, answer: requests.Response) -> None:
        """Submit to the marketplace what the site has stored."""
        form = _soup(answer).select_one("form[data-forward]")
        if form is None:
            raise SiteError("The answer was taken, but there is no form that hands it on.")
        target = urljoin(answer.url, str(form["action"]))
        submitted = self._post(target, hidden_fields(form))
        if not submitted.ok:
            # After a lost connection, the response to the second attempt says that the first one
            # arrived.
            raise SiteError(f"The submission was answered with {submitted.status_code}.")

    def _task_form(self, answer: requests.Response) -> TaskForm:
        page = _soup(answer)
        if page.select_one("[data-nothing-left]"):
            raise NothingLeft
        form = page.select_one("form[data-task]")
        if form is None:
            raise SiteError("The task page has no form.")
        task = read_form(form)
        self._load_images(answer.url, (item.image for item in task.items))
        return replace(task, action=urljoin(answer.url, task.action))

    def _load_images(self, page: str, sources: Iterable[str]) -> None:
        """Load the images of a task page; raises SiteError if one cannot be shown."""
        for source in set(sources) - self.seen_images:
            answer = _checked(self._get(urljoin(page, source)))
            if not answer.headers.get("Content-Type", "").startswith("image/"):
                raise SiteError("What the task page shows as an image is none.")
            self.seen_images.add(source)

    def _keep_token(self, page: Tag) -> bool:
        token = page.select_one("input[name=csrfmiddlewaretoken]")
        if token is not None:
            self.token = str(token["value"])
        return token is not None

    def _get(self, address: str) -> requests.Response:
        return self._ask("GET", address)

    def _post(self, address: str, fields: Mapping[str, str]) -> requests.Response:
        return self._ask("POST", address, data=dict(fields), headers={"Referer": address})

    def _ask(self, method: str, address: str, **arguments: object) -> requests.Response:
        """Send a request, with further attempts if the server is overloaded."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self.http.request(method, address, timeout=TIMEOUT, **arguments)  # type: ignore[arg-type]
            except requests.RequestException as error:
                if attempt == ATTEMPTS:
                    host = urlsplit(address).netloc
                    raise SiteError(f"{host} did not answer: {type(error).__name__}.") from error
                continue
            if answer.status_code < 500 or attempt == ATTEMPTS:
                return answer
        raise AssertionError("not reached")


def _soup(answer: requests.Response) -> BeautifulSoup:
    return BeautifulSoup(answer.content, "lxml")


def _checked(answer: requests.Response) -> requests.Response:
    if answer.ok:
        return answer
    alert = _soup(answer).select_one("[role=alert]")
    words = re.sub(r"\s+", " ", alert.get_text()).strip() if alert else "no reason given"
    raise SiteError(f"A page answered {answer.status_code}: {words}")


def read_form(form: Tag) -> TaskForm:
    """Parse the form of a task page of any type; raises SiteError."""
    items = [_item(fieldset) for fieldset in form.select("fieldset.task")]
    if not items:
        raise SiteError("The task page has no field for an answer.")
    return TaskForm(
        action=str(form.get("action", "")),
        hidden=hidden_fields(form) | _entry(form),
        items=items,
        ratings=_ratings(form),
        problems=[li.get_text(strip=True) for li in form.select("[data-problems] li")],
    )


def hidden_fields(form: Tag) -> dict[str, str]:
    """Name and value of the form's inputs, as a browser submits them."""
    return {
        str(field["name"]): str(field.get("value", ""))
        for field in form.select("input[name]")
        if field.get("type") not in {"submit", "button", "checkbox", "radio"}
    }


def _entry(form: Tag) -> dict[str, str]:
    """The sentence to confirm, confirmed, and the number of dots in the picture."""
    boxes = form.select("input[type=checkbox][required]")
    values = {str(box["name"]): str(box["value"]) for box in boxes}
    if picture := form.select_one(".dots img"):
        content = b64decode(str(picture["src"]).partition(",")[2])
        values[str(form.select(".dots input")[0]["name"])] = str(_dots(content))
    return values


def _dots(content: bytes) -> int:
    """The number of dots in a picture, each in its own place."""
    with PIL.Image.open(BytesIO(content)) as picture:
        grey = picture.convert("L")
    corners = product(range(0, grey.width, CELL), range(0, grey.height, CELL))
    places = (grey.crop((x, y, x + CELL, y + CELL)) for x, y in corners)
    return sum(place.getextrema() != (255, 255) for place in places)


def _ratings(form: Tag) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for choice in form.select("fieldset.rate-first input[type=radio]"):
        values.setdefault(str(choice["name"]), []).append(str(choice["value"]))
    return values


def _item(fieldset: Tag) -> Item:
    image = fieldset.select_one("img[data-task-image]")
    if image is None:
        raise SiteError("The task page has no image.")
    return Item(fieldset, str(image["src"]))


def field_of(item: Item, selector: str) -> Tag:
    """The item's first element of this kind; raises SiteError if there is none."""
    found = item.part.select_one(selector)
    if found is None:
        raise SiteError("The task page has no field for an answer.")
    return found
