"""The same work in this product, in Turkle and in Label Studio, one after the other in one run.

Each is installed from the package index into its own environment and takes the same images by their
addresses. Then four annotators in turn ask for the next image and submit a caption, and the answers
are exported. Processor time is that of all processes of a product: for ours, both sites, the syncs
and the approvals.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode, urljoin

from benchmarks.fleet import family_seconds, resident_megabytes
from benchmarks.harness import ROOT, Line, Report, main, ratio, seconds
from benchmarks.lean_browser import CSRF, FORM, Answer, ask, good
from benchmarks.whole_campaign import JSON, NAME, RECONCILER, Whole, installed, run_measured
from hits.local import HOST, Child, clean_environment, free_port

OURS, TURKLE, LABEL_STUDIO = "ours", "Turkle 3.1.0", "Label Studio 1.23.2"
PASSWORD = "of-a-benchmark-only"
ANNOTATORS = 4
PAID = "SELECT count(*) FROM hits_assignment WHERE status = 'APPROVED'"
SECTIONS = """
references = 1
baselines = 0
[workers]
who = "nocaps"
[review]
share = 0
approve_after_hours = 0
"""
IMAGES, FULL_IMAGES = 1_000, 15_000
ANSWERS = 200
CAPTION = "Two children wait beside an old stone bridge over a narrow river, number {}."
UV = str(Path(sys.executable).with_name("uv"))


@dataclass
class Work:
    """A running product: each step of the work, and what its processes have used so far."""

    import_images: Callable[[Sequence[str]], None]
    # Asks for the next image as the annotator with this number, and submits the text.
    answer: Callable[[int, str], None]
    # Returns the number of exported answers.
    export: Callable[[], int]
    used_seconds: Callable[[], float]
    megabytes: Callable[[], float]
    # Waits until this many answers are read and paid, where that comes later.
    settle: Callable[[int], None] = lambda _: None


@dataclass
class Measured:
    """A product's figures."""

    installation: float = 0.0
    installed_mb: float = 0.0
    images: float = 0.0
    answers: list[float] = field(default_factory=list)
    processor: float = 0.0
    exported: float = 0.0
    megabytes: float = 0.0


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--images", type=int, help=f"(default: {IMAGES}, --full: {FULL_IMAGES})")
    parser.add_argument("--answers", type=int, default=ANSWERS, help="(default: %(default)s)")


def measure(chosen: argparse.Namespace) -> Report:
    images = chosen.images or (FULL_IMAGES if chosen.full else IMAGES)
    addresses = [f"https://images.example/{number:016x}.jpg" for number in range(images)]
    measured = {
        name: _measured(begin, requirement, addresses, chosen.answers)
        for name, (begin, requirement) in PRODUCTS.items()
    }
    report = Report(database="sqlite")
    for what, key, unit, figure in FIGURES:
        ours = figure(measured[OURS])
        report.lines.append(Line(f"{what}: {OURS}", f"{ours:,.1f} {unit}"))
        for peer in (TURKLE, LABEL_STUDIO):
            theirs = figure(measured[peer])
            report.lines.append(
                Line(f"{what}: {peer}", f"{theirs:,.1f} {unit}", "ours", ratio(theirs, ours))
            )
        report.figures[key] = {name: round(figure(its), 3) for name, its in measured.items()}
    report.figures |= {
        "images": images,
        "answers": chosen.answers,
    }
    return report


FIGURES: list[tuple[str, str, str, Callable[[Measured], float]]] = [
    ("installation", "install_s", "s", lambda its: its.installation),
    ("its size", "install_mb", "MB", lambda its: its.installed_mb),
    ("import of the images", "import_s", "s", lambda its: its.images),
    (
        "next image and submission, median",
        "answer_ms",
        "ms",
        lambda its: 1000 * median(its.answers),
    ),
    ("processor time of an answer", "processor_ms", "ms", lambda its: 1000 * its.processor),
    ("export of the answers", "export_s", "s", lambda its: its.exported),
    ("memory of all processes", "memory_mb", "MB", lambda its: its.megabytes),
]


def _measured(
    begin: Callable[[Path, Path], AbstractContextManager[Work]],
    requirement: Sequence[str],
    addresses: Sequence[str],
    answers: int,
) -> Measured:
    its = Measured()
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        environment = folder / "environment"
        its.installation = seconds(lambda: _install(environment, requirement))
        sizes = (path.lstat().st_size for path in environment.rglob("*"))
        its.installed_mb = sum(sizes) / 1e6
        with begin(folder, environment / "bin") as work:
            its.images = seconds(lambda: work.import_images(addresses))
            used = work.used_seconds()
            for number in range(answers):
                text = CAPTION.format(number)
                its.answers.append(seconds(partial(work.answer, number % ANNOTATORS, text)))
            work.settle(answers)
            its.processor = (work.used_seconds() - used) / answers
            its.megabytes = work.megabytes()
            began = time.monotonic()
            exported = work.export()
            its.exported = time.monotonic() - began
            if exported != answers:
                raise SystemExit(f"{exported} of {answers} answers were exported.")
    return its


def _install(environment: Path, requirement: Sequence[str]) -> None:
    subprocess.run([UV, "venv", "--quiet", str(environment)], check=True)
    python = ["--python", str(environment / "bin" / "python")]
    subprocess.run([UV, "pip", "install", "--quiet", *python, *requirement], check=True, cwd=ROOT)


@contextmanager
def _served(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, ready: str
) -> Iterator[int]:
    """Run a server until the end of the block; yields its process id once it answers."""
    log = folder / "server.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            env=clean_environment(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    child = Child(command[0], process, log)
    try:
        child.wait_until_ready(ready)
        yield process.pid
    finally:
        child.stop()


@contextmanager
def _ours(folder: Path, _programs: Path) -> Iterator[Work]:
    with installed(folder, on_sqlite=True) as whole:
        yield _work_of(whole)


def _work_of(whole: Whole) -> Work:
    browsers: list[Any] = []

    def import_images(addresses: Sequence[str]) -> None:
        whole.prepare_images(len(addresses))
        whole.create_campaign(NAME, budget=f"{len(addresses)}.00", sections=SECTIONS)
        run_measured(whole, "publish", ["publish", NAME])
        browsers.extend(whole.browsers(ANNOTATORS))
        for browser in browsers:
            browser.browse()
        whole.fleet.start(RECONCILER)

    def answer(number: int, text: str) -> None:
        browser = browsers[number]
        browser.send(browser.open(browser.accept()), text)

    def settle(answers: int) -> None:
        whole.wait_until(lambda: whole.number(PAID) == answers, "everybody is paid", 120)

    def export() -> int:
        run_measured(whole, "release", ["release", NAME, "--name", NAME, "--partial"])
        out = whole.places.folder / "export"
        run_measured(whole, "export", ["export_captions", NAME, "--out", str(out)])
        return len(json.loads((out / "captions.json").read_text())["annotations"])

    def megabytes() -> float:
        children = whole.fleet.children.values()
        return sum(resident_megabytes(child.process.pid) for child in children)

    return Work(
        import_images,
        answer,
        export,
        lambda: sum(whole.fleet.seconds().values()),
        megabytes,
        settle,
    )


# A Django project with Turkle alone, as its documentation describes.
TURKLE_SETTINGS = """
from django.urls import include, path
SECRET_KEY = "of-a-benchmark"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "project"
ROOT_DIRECTORY = "."
CONTRIB = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles", "humanize"]
INSTALLED_APPS = [
    *("django.contrib." + name for name in CONTRIB),
    "guardian", "rest_framework", "rest_framework.authtoken", "djaa_list_filter2", "turkle",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
PROCESSORS = ["django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
    "OPTIONS": {"context_processors": PROCESSORS}}]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend"]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
}
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "turkle.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
STATIC_URL = "/static/"
USE_TZ = True
TURKLE_AUTO_ACCEPT_DEFAULT = False
"""
TURKLE_URLS = """
from django.contrib import admin
from django.urls import include, path
urlpatterns = [
    path("admin/", admin.site.urls), path("accounts/", include("django.contrib.auth.urls")),
    path("api/", include("turkle.api.urls")), path("", include("turkle.urls")),
]
"""
TURKLE_ACCOUNTS = f"""
from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token
for number in range({ANNOTATORS}):
    User.objects.create_user(f"annotator{{number}}", password={PASSWORD!r})
admin = User.objects.create_superuser("admin", password={PASSWORD!r})
print(Token.objects.create(user=admin).key)
"""
TURKLE_FORM = '<p><img src="${image_url}" alt=""></p><textarea name="caption"></textarea>'
FRAME = re.compile(r'<iframe[^>]*? src="([^"]+)"')


@contextmanager
def _turkle(folder: Path, programs: Path) -> Iterator[Work]:
    (folder / "settings.py").write_text(TURKLE_SETTINGS)
    (folder / "project.py").write_text(TURKLE_URLS)
    environment = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(folder)}
    run = [str(programs / "django-admin")]
    with_settings = {**clean_environment({}), **environment}
    subprocess.run([*run, "migrate", "-v", "0"], env=with_settings, cwd=folder, check=True)
    shell = [*run, "shell", "-c", TURKLE_ACCOUNTS]
    token = subprocess.check_output(shell, env=with_settings, cwd=folder, text=True).strip()
    port = free_port(0)
    server = [
        "--bind",
        f"{HOST}:{port}",
        "--threads",
        "4",
        "django.core.wsgi:get_wsgi_application()",
    ]
    site = f"http://{HOST}:{port}"
    # Popen's environment of our own has no settings module; gunicorn sets this one.
    command = ["env", "DJANGO_SETTINGS_MODULE=settings", str(programs / "gunicorn"), *server]
    with _served(command, environment, folder, f"{site}/help/") as pid:
        yield _turkle_work(site, token, pid)


def _turkle_work(site: str, token: str, pid: int) -> Work:
    batch = 0
    cookies: list[dict[str, str]] = [{} for _ in range(ANNOTATORS)]
    headers = {**JSON, "Authorization": f"Token {token}"}

    def import_images(addresses: Sequence[str]) -> None:
        nonlocal batch
        project = {"name": "captions", "html_template": TURKLE_FORM, "filename": "form.html"}
        made = _sent(f"{site}/api/projects/", project, headers)
        lines = {"name": NAME, "project": made["id"], "filename": "images.csv", "published": True}
        lines["csv_text"] = "\n".join(["image_url", *addresses, ""])
        batch = _sent(f"{site}/api/batches/", lines, headers)["id"]
        for number, own in enumerate(cookies):
            _sign_in(site, f"annotator{number}", own)

    def answer(number: int, text: str) -> None:
        own = cookies[number]
        page = _followed(f"{site}/batch/{batch}/accept_next_task/", own)
        frame = _match(FRAME, page).replace("&amp;", "&")
        good(ask("GET", urljoin(site, frame), cookies=own))
        fields = {"csrfmiddlewaretoken": own["csrftoken"], "caption": text}
        _posted(page.url, fields, own)

    def export() -> int:
        answer = good(ask("GET", f"{site}/api/batches/{batch}/results/", headers=headers))
        return answer.text.count("number ")

    return Work(
        import_images, answer, export, lambda: family_seconds(pid), lambda: resident_megabytes(pid)
    )


def _sign_in(site: str, name: str, cookies: dict[str, str]) -> None:
    address = f"{site}/accounts/login/"
    page = good(ask("GET", address, cookies=cookies))
    fields = {"csrfmiddlewaretoken": _match(CSRF, page), "username": name, "password": PASSWORD}
    _posted(address, fields, cookies)
    if "sessionid" not in cookies:
        raise SystemExit(f"{address} refused {name}.")


LABELS = '<View><Image name="i" value="$image"/><TextArea name="caption" toName="i"/></View>'
STUDIO_TOKEN = "0123456789abcdef" * 2 + "01234567"


@contextmanager
def _label_studio(folder: Path, programs: Path) -> Iterator[Work]:
    port = free_port(0)
    site = f"http://{HOST}:{port}"
    environment = {
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        # Nothing is sent to its makers.
        **{name: "0" for name in ("collect_analytics", "LATEST_VERSION_CHECK")},
        **{name: "" for name in ("SENTRY_DSN", "FRONTEND_SENTRY_DSN")},
    }
    program = str(programs / "label-studio")
    account = ["--username", "admin@captions.example", "--password", PASSWORD]
    # The first start makes the database, which takes minutes on a busy machine.
    subprocess.run(
        [program, "init", *account, "--user-token", STUDIO_TOKEN],
        env=clean_environment(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    command = [program, "start", "--no-browser", "--port", str(port), "--internal-host", HOST]
    with _served(command, environment, folder, f"{site}/health") as pid:
        yield _label_studio_work(site, pid)


def _label_studio_work(site: str, pid: int) -> Work:
    headers = {**JSON, "Authorization": f"Token {STUDIO_TOKEN}"}
    project = ""

    def import_images(addresses: Sequence[str]) -> None:
        nonlocal project
        made = _sent(f"{site}/api/projects", {"title": NAME, "label_config": LABELS}, headers)
        project = f"{site}/api/projects/{made['id']}"
        _sent(f"{project}/import", [{"image": address} for address in addresses], headers)

    def answer(_number: int, text: str) -> None:
        task = json.loads(good(ask("GET", f"{project}/next", headers=headers)).text)
        value = {"from_name": "caption", "to_name": "i", "type": "textarea"}
        result = [{**value, "value": {"text": [text]}}]
        _sent(f"{site}/api/tasks/{task['id']}/annotations/", {"result": result}, headers)

    def export() -> int:
        answer = good(ask("GET", f"{project}/export?exportType=JSON", headers=headers))
        return sum(len(task["annotations"]) for task in json.loads(answer.text))

    return Work(
        import_images, answer, export, lambda: family_seconds(pid), lambda: resident_megabytes(pid)
    )


def _sent(url: str, body: object, headers: Mapping[str, str]) -> Any:
    return json.loads(good(ask("POST", url, body=json.dumps(body), headers=headers)).text)


def _posted(url: str, fields: Mapping[str, str], cookies: dict[str, str]) -> Answer:
    sent = {**FORM, "Referer": url}
    return good(ask("POST", url, body=urlencode(fields), headers=sent, cookies=cookies))


def _followed(url: str, cookies: dict[str, str]) -> Answer:
    answer = good(ask("GET", url, cookies=cookies))
    return _followed(urljoin(url, answer.location), cookies) if answer.location else answer


def _match(pattern: re.Pattern[str], answer: Answer) -> str:
    found = pattern.search(answer.text)
    if found is None:
        raise SystemExit(f"{answer.url} has no {pattern.pattern}: {answer.text[:300]}")
    return found[1]


# How each is begun, and what `uv pip install` installs.
PRODUCTS: dict[str, tuple[Callable[[Path, Path], AbstractContextManager[Work]], list[str]]] = {
    OURS: (_ours, ["--requirement", "requirements.txt"]),
    TURKLE: (_turkle, ["turkle==3.1.0", "gunicorn", "setuptools<81"]),
    LABEL_STUDIO: (_label_studio, ["label-studio==1.23.2"]),
}


if __name__ == "__main__":
    main(measure, name="peers", description=__doc__, options=options)
