"""Word–box links and ratings in the campaign's language: pages, errors, texts of scripts, names."""

import gettext as catalogues
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.urls import reverse
from django.utils.translation import get_language_info, ngettext

from annotate.kinds import KINDS, AnswerRefused, CampaignNotPossible
from annotate.kinds.campaign_files import parse_config
from annotate.kinds.rating.sources import in_same_form
from annotate.kinds.wording import in_language, page_language
from annotate.models import Box, Campaign, ClassName, Role
from annotate.services.campaigns import create_campaign
from annotate.templatetags.campaigns import show_answer
from corpora.language.languages import LANGUAGES, language_of
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    HitFactory,
    HitTypeFactory,
    LinkResponseFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.hits.opened_pages import address, form_fields

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OTHERS = sorted(set(LANGUAGES) - {"en"})
# Of the campaign's author and of the image, not of the catalogues.
OWN = {"title": "Ω1", "description": "Ω2", "keywords": "Ω3"}
SENTENCES = {
    "en": "A man feeds a dog.",
    "de": "Ein Mann füttert einen Hund.",
    "es": "Un hombre da de comer a un perro.",
    "fr": "Un homme nourrit un chien.",
    "zh": "一个男人在喂狗。",
    "ja": "男性が犬に餌をやっている。",
    "ar": "رجل يطعم كلبًا.",
}
SOURCES = {"sources": [{"name": name, "caption_set": name} for name in ("people", "model")]}
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")


def make_links(language, **values):
    """A running campaign about a sentence in the language, whose image has boxes of two classes."""
    image = BoxFactory(object_class=ClassFactory(name="Ωman", label="/m/man"), is_group=True).image
    BoxFactory(image=image, object_class=ClassFactory(name="Ωdog", label="/m/dog"))
    captions = CaptionSetFactory(name="mine")
    GivenCaptionFactory(caption_set=captions, image=image, text=SENTENCES[language])
    return running({"preset": "imageclef", "caption_set": "mine", "language": language, **values})


def make_ratings(language, **values):
    selection = SelectionFactory(name="images", images=1)
    for name, ending in {"people": "", "model": " Ω."}.items():
        GivenCaptionFactory(
            caption_set=CaptionSetFactory(name=name),
            image=selection.images.get(),
            text=SENTENCES[language] + ending,
        )
    file = {"kind": "rating", "selection": "images", "rating": SOURCES}
    return running({**file, "language": language, **values})


def running(values):
    file = {"name": "campaign", "budget": "9.00", "hit": OWN, **values}
    file = {name: value for name, value in file.items() if value is not None}
    campaign = create_campaign(config=parse_config(file), endpoint="local", at=NOON)
    Campaign.objects.update(status="RUNNING")
    return Campaign.objects.get(pk=campaign.pk)


MAKERS = {"correspondence": make_links, "rating": make_ratings}


def hit_of(campaign):
    return HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)


def english_texts(language):
    """The parts of the catalogue's English texts that no translation has."""
    folder = page_language(language).replace("zh-hans", "zh_Hans")
    path = Path(settings.LOCALE_PATHS[0]) / folder / "LC_MESSAGES/django.mo"
    with path.open("rb") as file:
        found = {
            key: text for key, text in catalogues.GNUTranslations(file)._catalog.items() if key
        }
    everything = "\n".join(found.values())
    texts = {key[0] if isinstance(key, tuple) else key for key in found}
    parts = {part.strip(" .,:;?!()“”…·") for text in texts for part in PLACEHOLDER.split(text)}
    return {part for part in parts if len(part) > 2 and part not in everything}


def words_of(answer):
    """The texts that a person reads or hears on the page, those of scripts included."""
    soup = BeautifulSoup(answer.content, "lxml")
    names = ("aria-label", "alt", "title", "data-label", "data-progress")
    spoken = [tag[name] for name in names for tag in soup.find_all(attrs={name: True})]
    for key in soup.find_all("kbd"):
        key.decompose()
    texts = json.loads(soup.find(id="task-texts").string)
    said = [
        text
        for value in texts.values()
        for text in (value.values() if isinstance(value, dict) else [value])
    ]
    return "\n".join([soup.body.get_text(" ", strip=True), *spoken, *said])


@pytest.mark.parametrize("language", ["en", *OTHERS])
@pytest.mark.parametrize("kind", MAKERS)
def test_the_page_has_no_text_in_another_language(client, kind, language):
    hit = hit_of(MAKERS[kind](language))
    token = form_fields(client.get(address(hit)))["token"]

    for answer in (
        client.get(address(hit, assignmentId=None, workerId=None)),
        client.get(address(hit)),
        client.post(f"/task/{hit.campaign.slug}/", {"token": token}),
    ):
        page = BeautifulSoup(answer.content, "lxml").html
        assert page["lang"] == page_language(language), answer.content.decode()
        assert page.get("dir") == ("rtl" if language == "ar" else None)
        assert page.select(f"[data-sentence][lang={language}], blockquote[lang={language}]")
        words = words_of(answer)
        if language != "en":
            found = [
                text
                for text in english_texts(language)
                if re.search(rf"\b{re.escape(text)}\b", words)
            ]
            assert found == []


def linked(language):
    task = make_links(language).tasks.get()
    box = Box.objects.get(is_group=True)
    words = {"0": [box.pk], "1": "scene", "2": "not-visual", "3": "not-boxed"}
    return LinkResponseFactory(task=task, words=words)


def rated(language):
    response = ResponseFactory(task=make_ratings(language).tasks.get())
    marks = {"1": {"wrong": [0], "missing": "Ω"}}
    KINDS["rating"].store([(response, {"1": {"true": 1}, "marks": marks})])
    return response


def compared(language, first=1):
    task = make_ratings(language, kind="preference", rating=None, preference=SOURCES).tasks.get()
    response = ResponseFactory(task=task)
    KINDS["preference"].store([(response, {"1": {"better": first} if first else {}})])
    return response


def unanswered(language):
    return compared(language, first=None)


def described(language):
    image = BoxFactory(object_class=ClassFactory(name="English Ω")).image
    ClassName.objects.create(
        object_class=image.boxes.get().object_class, language=language, name="Ω"
    )
    images = SelectionFactory(images=[image])
    campaign = running({"kind": "region", "selection": images.name, "language": language})
    return ResponseFactory(task=campaign.tasks.get(), text=SENTENCES[language])


@pytest.mark.parametrize("language", ["zh", "ja", "ar"])  # without Latin letters
@pytest.mark.parametrize("answered", [linked, rated, compared, unanswered, described])
def test_a_worker_reads_an_answer_again_in_the_language_of_the_campaign(answered, language):
    """The page about discarded answers shows them as reviewers see them, but not in English."""
    response = answered(language)

    with in_language(language):
        shown = show_answer(KINDS[response.campaign.kind], response, language)

    soup = BeautifulSoup(shown, "lxml")
    words = " ".join([soup.get_text(" "), *(image["alt"] for image in soup.select("img"))])
    assert re.findall(r"\b[A-Za-z]{2,}", words) == []


@pytest.mark.parametrize("language", ["en", *OTHERS])
def test_outlines_of_boxes_have_decimal_points_in_all_languages(client, language):
    campaign = make_links(language)
    Box.objects.update(x_min=0.25, x_max=0.75)

    page = BeautifulSoup(client.get(address(hit_of(campaign))).content, "lxml")

    outlines = page.select(".outline rect")
    assert len(outlines) == 4
    assert {(each["x"], each["width"]) for each in outlines} == {("0.25", "0.5")}


@pytest.mark.parametrize("language", OTHERS)
def test_an_empty_answer_is_refused_in_the_language(language):
    links, ratings = make_links(language).tasks.get(), None
    Campaign.objects.update(slug="links")
    ratings = make_ratings(language).tasks.get()

    said = []
    for task in (links, ratings):
        kind, config = KINDS[task.campaign.kind], task.campaign.config
        with in_language(config.language), pytest.raises(AnswerRefused) as refused:
            kind.check(task, config, {})
        said += [problem.message for problem in refused.value.problems]

    assert len(said) == 2
    assert not any("Please" in sentence or "{" in sentence for sentence in said)
    assert "1" in said[1]
    assert "2" in said[1]


def test_a_missing_rating_is_said_in_the_singular_or_the_plural():
    task = make_ratings("de").tasks.get()
    kind, config = KINDS["rating"], task.campaign.config
    fields = {name: "3" for name in kind.field_names(task) if "-2-" in name}

    with in_language("de"), pytest.raises(AnswerRefused, match="zu Satz 1"):
        kind.check(task, config, fields)
    with in_language("de"), pytest.raises(AnswerRefused, match="zu den Sätzen 1, 2"):
        kind.check(task, config, {})


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_scripts_choose_the_form_of_a_plural_that_gettext_chooses():
    """Intl.PluralRules and the catalogues' formulas agree, for all languages in one run of Node."""
    counts, expected, forms = range(130), {}, {}
    for tag in LANGUAGES:
        language = page_language(tag)
        with in_language(tag):
            forms[language] = KINDS["rating"].script_texts()["questionsLeft"]
            sentence = "{count} question is left.", "{count} questions are left."
            expected[language] = [ngettext(*sentence, count) for count in counts]
    script = """
        import { plural } from "./static/kinds/texts.js";
        const forms = JSON.parse(process.argv[1]);
        const chosen = Object.entries(forms).map(([language, each]) => [
          language, Array.from({ length: 130 }, (_, count) => plural(each, count, language)),
        ]);
        console.log(JSON.stringify(Object.fromEntries(chosen)));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", script, json.dumps(forms)],
        cwd=settings.BASE_DIR,
        check=True,
        capture_output=True,
        text=True,
    )

    chosen = json.loads(done.stdout)
    for language, texts in expected.items():
        # Nobody reads the sentence for none, and French has one in its place.
        assert chosen[language][1:] == texts[1:], get_language_info(language)["name"]


# Words that are marked


def test_words_are_marked_in_english_only():
    ClassFactory(name="Dog")
    marked = {}
    for language in ("en", "de"):
        image = BoxFactory(object_class__name=f"Dog {language}").image
        captions = CaptionSetFactory(name=f"set-{language}")
        GivenCaptionFactory(
            caption_set=captions, image=image, text=f"A dog {language} runs, as in dog {language}."
        )
        campaign = running(
            {
                "name": f"links-{language}",
                "preset": "imageclef",
                "caption_set": captions.name,
                "language": language,
            }
        )
        task = campaign.tasks.get()
        shown = KINDS["correspondence"].context(task, campaign.config, {})
        marked[language] = any(word["is_suggested"] for word in shown["words"])

    assert marked == {"en": True, "de": False}


# Names of classes


def test_boxes_have_the_names_of_their_classes_in_the_language():
    image = BoxFactory(object_class=ClassFactory(name="Dog")).image
    BoxFactory(image=image, object_class=ClassFactory(name="Fence"))
    dog = image.boxes.get(object_class__name="Dog").object_class
    ClassName.objects.create(object_class=dog, language="de", name="Hund")
    captions = CaptionSetFactory(name="mine")
    GivenCaptionFactory(caption_set=captions, image=image, text="Ein Hund vor einem Zaun.")

    campaign = running({"preset": "imageclef", "caption_set": "mine", "language": "de"})
    dog.names.all().delete()  # The names are fixed when the campaign is created.

    shown = KINDS["correspondence"].context(campaign.tasks.get(), campaign.config, {})["boxes"]
    assert [(box["number"], box["label"], box["is_english"]) for box in shown] == [
        (1, "Hund", False),
        (2, "Fence", True),
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_names_the_keys_that_rate(client, language):
    question = {"name": "precise", "text": "Ω?", "labels": ["Ωno", "Ωyes"]}
    campaign = make_ratings(language, rating={**SOURCES, "questions": [question]})

    page = BeautifulSoup(client.get(address(hit_of(campaign))).content, "lxml")

    assert [key.text for key in page.select("[data-keys] kbd")] == ["1", "2"]


def languages_of(html, text):
    """The languages of the places that show the text to people."""
    found = BeautifulSoup(html, "lxml").find_all(string=re.compile(re.escape(text)))
    places = [each.parent for each in found if each.parent.name not in ("title", "script")]
    return {
        place.find_parent(lang=True)["lang"] if not place.get("lang") else place["lang"]
        for place in places
    }


def test_a_worker_hears_which_names_of_boxes_are_in_english(client):
    campaign = make_links("de")
    task = campaign.tasks.get()
    task.payload = {"class_names": {"/m/man": "Ωmann"}}
    task.save()
    response = LinkResponseFactory(task=task, words={"0": [Box.objects.first().pk]})

    page = client.get(address(hit_of(campaign))).content.decode()
    with in_language("de"):
        again = show_answer(KINDS["correspondence"], response, "de")

    assert languages_of(page, "Ωdog") == languages_of(again, "Ωdog") == {"en"}
    assert languages_of(page, "Ωmann") == languages_of(again, "Ωmann") == {"de"}


@pytest.mark.parametrize("name", [None, "Schaf"])
def test_the_class_of_a_region_has_its_language(name):
    image = BoxFactory(object_class=ClassFactory(name="Sheep")).image
    if name:
        ClassName.objects.create(
            object_class=image.boxes.get().object_class, language="de", name=name
        )
    file = {"kind": "region", "selection": SelectionFactory(images=[image]).name, "language": "de"}
    response = ResponseFactory(task=running(file).tasks.get(), text=SENTENCES["de"])

    shown = show_answer(KINDS["region"], response, "de")

    assert languages_of(shown, name or "Sheep") == {"de" if name else "en"}


# The language that a campaign has if its file names none


def german_release():
    campaign = CampaignFactory(config={"references": 2, "language": "de"})
    task = TaskFactory(campaign=campaign, image=BoxFactory().image)
    for worker in WorkerFactory.create_batch(3):
        ResponseFactory(task=task, worker=worker, text="Ein Hund läuft durch den Park.")
    return release_campaign(campaign=campaign, name="leute", seed=1, at=NOON)


@pytest.mark.parametrize("named", [None, "en"])
def test_links_have_the_language_of_the_release_unless_the_file_names_one(named):
    german_release()

    campaign = running({"preset": "imageclef", "release": "leute", "language": named})

    assert campaign.config.language == (named or "de")


def test_links_of_a_set_that_a_release_made_have_its_language():
    german_release()
    running({"name": "first", "preset": "imageclef", "release": "leute"})

    campaign = running({"preset": "imageclef", "caption_set": "leute"})

    assert campaign.config.language == "de"


def test_ratings_have_the_language_of_the_releases_that_they_rate():
    release = german_release()
    images = SelectionFactory(images=[task.image for task in release.campaign.tasks.all()])
    sources = [{"name": "people", "release": "leute"}]
    file = {"kind": "rating", "selection": images.name, "rating": {"sources": sources}}

    german, english = running(file), running({**file, "name": "in-english", "language": "en"})

    assert (german.config.language, english.config.language) == ("de", "en")
    questions = KINDS["rating"].context(german.tasks.get(), german.config, {})["captions"][0]
    assert questions["questions"][2]["text"] == "Is it fluent?"


def test_captions_of_a_set_without_a_language_are_taken_for_english():
    captions = GivenCaptionFactory(caption_set__name="mine", image=BoxFactory().image)

    campaign = running({"preset": "imageclef", "caption_set": captions.caption_set.name})

    assert campaign.config.language == "en"


@pytest.mark.parametrize(("tag", "said"), [("de", True), ("en", False)])
def test_the_quality_page_speaks_of_flags_where_workers_write(client, tag, said):
    client.force_login(UserFactory())
    captions = CampaignFactory(config={"language": tag})
    ratings = make_ratings(tag)

    pages = [
        client.get(reverse("qualcontrol:quality", args=[campaign.slug])).content.decode()
        for campaign in (captions, ratings)
    ]

    assert ["Captions are in German" in page for page in pages] == [said, False]


# Releases of several languages, and the form of captions


def test_of_a_release_of_several_languages_ratings_use_the_campaigns():
    release = german_release()
    release.languages = ["de", "ja"]
    release.save()
    [image] = release.images.all()
    image.captions.update(language="de")
    last = image.captions.filter(role=Role.REFERENCE).order_by("pk").last()
    image.captions.filter(pk=last.pk).update(language="ja", text="犬が公園を走る。")
    images = SelectionFactory(images=[image.task.image])
    sources = [{"name": "people", "release": "leute"}]
    file = {"kind": "rating", "selection": images.name, "rating": {"sources": sources}}

    campaign = running({**file, "language": "ja"})

    [caption] = campaign.tasks.get().payload["captions"]
    assert caption["text"] == "犬が公園を走る。"
    with pytest.raises(CampaignNotPossible, match=r"campaign's language are used \(fr\)"):
        running({**file, "name": "in-french", "language": "fr"})


@pytest.mark.parametrize(
    ("text", "full_stop", "expected"),
    [
        ("犬が走る", "。", "犬が走る。"),
        ("犬が走る。", "。", "犬が走る。"),
        ("a dog runs", ".", "A dog runs."),
        ("هل يركض الكلب؟", ".", "هل يركض الكلب؟"),
        ("कुत्ता दौड़ता है", language_of("hi-IN").full_stop, "कुत्ता दौड़ता है।"),
        ("कुत्ता दौड़ता है।", language_of("hi").full_stop, "कुत्ता दौड़ता है।"),
        ("کتا دوڑتا ہے۔", language_of("ur").full_stop, "کتا دوڑتا ہے۔"),
        ("สุนัขวิ่ง", language_of("th").full_stop, "สุนัขวิ่ง"),
    ],
)
def test_captions_of_all_sources_end_as_their_language_does(text, full_stop, expected):
    assert in_same_form(text, full_stop) == expected
