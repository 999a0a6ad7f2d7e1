"""Turkle in its own environment: measures its own code, and prints a JSON object.

    python turkle_site.py import|page|export --tasks N

It uses an SQLite file in a temporary folder, in transactions like those of its admin pages.
"""

import argparse
import csv
import io
import json
import tempfile
from statistics import median
from time import perf_counter
from typing import Any

import django
from django.conf import settings

TEMPLATE = '<p><img src="${image_url}" alt=""></p><p><textarea name="caption"></textarea></p>'
PAGES = 25


def configure(folder: str) -> None:
    contrib = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles", "humanize"]
    settings.configure(
        SECRET_KEY="of-a-scratch-site",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="turkle.urls",
        INSTALLED_APPS=[
            *(f"django.contrib.{name}" for name in contrib),
            "guardian",
            "djaa_list_filter2",
            "turkle",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        AUTHENTICATION_BACKENDS=[
            "django.contrib.auth.backends.ModelBackend",
            "guardian.backends.ObjectPermissionBackend",
        ],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": f"{folder}/turkle.sqlite3",
            }
        },
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        STATIC_URL="/static/",
        USE_TZ=True,
        TURKLE_AUTO_ACCEPT_DEFAULT=False,
        LOGGING_CONFIG=None,
    )
    django.setup()
    # The site's pages link to its admin, so the project must include its URLs.
    from django.contrib import admin
    from django.urls import include, path
    from turkle import urls

    urls.urlpatterns += [
        path("admin/", admin.site.urls),
        path("accounts/", include("django.contrib.auth.urls")),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["import", "page", "export"])
    parser.add_argument("--tasks", type=int, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        configure(folder)
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        found = {"import": measure_import, "page": measure_page, "export": measure_export}
        print(json.dumps(found[options.what](options.tasks)))


def make_batch() -> Any:
    from turkle.models import Batch, Project

    project = Project(name="captions", html_template=TEMPLATE)
    project.process_template()
    project.save()
    return Batch.objects.create(
        name="captions", project=project, assignments_per_task=11, published=True
    )


def image_url(number: int) -> str:
    return f"https://images.example/{number:08x}.jpg"


def measure_import(tasks: int) -> dict[str, float]:
    """Tasks per second of the import that publishes a batch."""
    from django.db import transaction

    batch = make_batch()
    text = io.StringIO()
    csv.writer(text).writerows([["image_url"], *([image_url(n)] for n in range(tasks))])
    text.seek(0)
    began = perf_counter()
    with transaction.atomic():
        batch.create_tasks_from_csv(text)
    return {"import_tasks_per_s": tasks / (perf_counter() - began)}


def add_tasks(batch: Any, count: int) -> list[Any]:
    from turkle.models import Task

    tasks = [Task(batch=batch, input_csv_fields={"image_url": image_url(n)}) for n in range(count)]
    made: list[Any] = Task.objects.bulk_create(tasks, batch_size=5000)
    return made


def measure_page(tasks: int) -> dict[str, float]:
    """Milliseconds from accepting the next task to the page with its form in the frame."""
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse
    from turkle.models import TaskAssignment

    batch = make_batch()
    add_tasks(batch, tasks)
    times = []
    for number in range(PAGES):
        worker = User.objects.create(username=f"worker{number}")
        client = Client()
        client.force_login(worker)
        began = perf_counter()
        answer = client.get(reverse("accept_next_task", args=[batch.pk]), follow=True)
        assignment = TaskAssignment.objects.get(assigned_to=worker)
        frame = client.get(
            reverse("task_assignment_iframe", args=[assignment.task_id, assignment.pk])
        )
        times.append(perf_counter() - began)
        assert answer.status_code == frame.status_code == 200
        assert b"caption" in frame.content
    return {"page_ms": 1000 * median(times)}


def measure_export(tasks: int) -> dict[str, float]:
    """Rows per second of the results file, for tasks with one completed assignment each."""
    from django.contrib.auth.models import User
    from turkle.models import TaskAssignment

    batch = make_batch()
    worker = User.objects.create(username="worker")
    for task in add_tasks(batch, tasks):
        TaskAssignment(
            task=task,
            assigned_to=worker,
            completed=True,
            answers={"caption": f"Two children wait beside an old stone bridge, number {task.pk}."},
        ).save()
    out = io.StringIO()
    began = perf_counter()
    batch.to_csv(out)
    assert out.getvalue().count("\n") == tasks + 1
    return {"export_rows_per_s": tasks / (perf_counter() - began)}


if __name__ == "__main__":
    main()
