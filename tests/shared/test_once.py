"""Forms that are carried out once, for any way of storing their keys."""

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.template import Context, Template

from shared import once
from shared.once import FIELD, SentForm, carried_out_once, key_of


class StoredForm(SentForm):
    """A form whose key and answer are in a dictionary."""

    def __init__(self, key, stored):
        self.key, self.stored = key, stored
        self.is_new = key not in stored
        stored.setdefault(key, None)

    def keep(self, response):
        self.stored[self.key] = response["Location"]

    def forget(self):
        del self.stored[self.key]

    def is_answered(self):
        return self.stored.get(self.key, "") is not None

    def second_answer(self):
        return HttpResponse(self.stored.get(self.key), status=409)


def redirect():
    return HttpResponse(status=302, headers={"Location": "/made/"})


def fail():
    raise RuntimeError("carried out twice")


def test_a_form_is_carried_out_once():
    stored = {}

    first = carried_out_once(StoredForm("a", stored), redirect)
    second = carried_out_once(StoredForm("a", stored), fail)

    assert first["Location"] == "/made/"
    assert second.content == b"/made/"


def test_a_refused_form_and_one_that_failed_can_be_sent_again():
    stored = {}
    carried_out_once(StoredForm("a", stored), lambda: HttpResponse(status=422))
    with pytest.raises(RuntimeError):
        carried_out_once(StoredForm("a", stored), fail)

    assert carried_out_once(StoredForm("a", stored), redirect).status_code == 302


def test_the_second_post_waits_for_the_first_one(monkeypatch):
    stored, waits = {}, []
    StoredForm("a", stored)

    def sleep(seconds):
        waits.append(seconds)
        stored["a"] = "/made/" if len(waits) == 2 else None

    monkeypatch.setattr(once, "sleep", sleep)

    assert carried_out_once(StoredForm("a", stored), fail).content == b"/made/"
    assert len(waits) == 2


def test_the_second_post_does_not_wait_for_ever(monkeypatch):
    stored, waits = {}, []
    StoredForm("a", stored)
    monkeypatch.setattr(once, "sleep", waits.append)

    carried_out_once(StoredForm("a", stored), fail)

    assert sum(waits) == pytest.approx(once.PATIENCE)


def test_each_form_on_a_page_has_its_own_key(rf):
    page = Template("{% load once %}{% form_key %}{% form_key %}").render(Context())

    keys = [part.split('"')[0] for part in page.split('value="')[1:]]

    assert len({str(key_of(rf.post("/", {FIELD: key}))) for key in keys}) == 2


def test_a_key_is_read_from_a_posted_form_only(rf):
    key = uuid4()

    assert key_of(rf.post("/", {FIELD: key})) == key_of(rf.post("/", {FIELD: key}))
    assert key_of(rf.get("/", {FIELD: key})) is None
    assert key_of(rf.post("/")) is None
    with pytest.raises(ValueError, match="badly formed"):
        key_of(rf.post("/", {FIELD: "a"}))


def test_other_entries_another_file_and_another_address_make_another_form(rf):
    file = SimpleUploadedFile("a.csv", b"a")
    fields = {FIELD: uuid4(), "name": "a", "kinds": ["a", "b"], "file": file}
    forms = [
        ("/", fields),
        ("/", {**fields, "name": "b"}),
        ("/", {**fields, "kinds": ["b"]}),
        ("/", {**fields, "file": SimpleUploadedFile("b.csv", b"a")}),
        ("/", {**fields, "file": SimpleUploadedFile("a.csv", b"b")}),
        ("/other/", fields),
    ]

    assert len({key_of(rf.post(address, sent)) for address, sent in forms}) == len(forms)


def test_a_file_is_read_from_its_beginning_afterwards(rf):
    request = rf.post("/", {FIELD: uuid4(), "file": SimpleUploadedFile("a.csv", b"abc")})

    key_of(request)

    assert request.FILES["file"].read() == b"abc"
