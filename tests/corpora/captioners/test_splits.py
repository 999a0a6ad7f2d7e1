"""Finding pairs of concepts in captions, splits that hold them out, and Recall@K."""

import json
from importlib import import_module

import pytest
from django.core.management import CommandError, call_command

from corpora.captioners.matching import (
    Node,
    PartOfSpeech,
    all_pairs,
    concepts,
    pairs_in_parses,
    pairs_in_words,
    pairs_named,
    read_conllu,
    spacy_parser,
)
from corpora.captioners.splits import Described, count_pairs, hold_out, recall, recall_by_agreement
from corpora.errors import DomainError

CAPTIONS = {
    1: ["A black cat on a sofa", "A cat"],
    2: ["A cat on a black sofa", "A black kitten sleeps", "The cat is black"],
    3: ["A dog"],
    4: ["The cat looks black and small"],
    5: ["A black dog and a cat"],
}
CONLLU = """\
# sent_id = {id}
# text = a black cat
1\ta\ta\tDET\t_\t_\t3\tdet\t_\t_
2\tblack\tblack\tADJ\t_\t_\t3\t{relation}\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture(scope="module")
def black_cat():
    (pair,) = pairs_named(["black cat"])
    return pair


def in_words(text):
    return pairs_in_words(text, all_pairs())


def coco(captions):
    """A captions file in COCO form."""
    rows = [(image, text) for image, texts in captions.items() for text in texts]
    return {
        "images": [{"id": image} for image in captions],
        "annotations": [
            {"id": number, "image_id": image, "caption": text}
            for number, (image, text) in enumerate(rows, start=100)
        ],
    }


def run(capsys, *arguments):
    call_command("compositional_split", *map(str, arguments), "--json")
    return json.loads(capsys.readouterr().out)


def test_the_pairs_are_those_of_table_1():
    pairs = all_pairs()

    assert len({pair.name for pair in pairs}) == 24
    assert {pair.noun.part for pair in pairs} == {PartOfSpeech.NOUN}
    assert {pair.modifier.part for pair in pairs} == {PartOfSpeech.ADJECTIVE, PartOfSpeech.VERB}
    assert {"black cat", "eat horse", "white boat"} < {pair.name for pair in pairs}


def test_every_concept_has_its_own_name_among_its_words_and_is_used():
    used = {one.name for pair in all_pairs() for one in pair}

    assert all(name in concept.lemmas & concept.words for name, concept in concepts().items())
    assert set(concepts()) == used
    assert {"women", "ladies"} < concepts()["woman"].words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A black cat on a sofa", {"black cat"}),
        ("A black and white CAT.", {"black cat"}),
        ("Two small fluffy kittens", {"small cat"}),
        ("The cat is black", {"black cat"}),
        ("The cat is very black", {"black cat"}),
        ("A black sofa with a cat on it", set()),
        ("A cat on a black sofa", set()),
        ("A black dog next to a cat", set()),
        ("A black catalogue", set()),
        ("A large white horse eats grass", {"white horse", "eat horse"}),
        ("A man is quickly eating pizza", {"eat man"}),
        ("A man and his dog eating", set()),
        ("A lady rode a bike", {"ride woman"}),
        ("Birds flying over a bus", {"fly bird"}),
        ("", set()),
    ],
)
def test_pairs_are_found_by_the_rule_for_words(text, found):
    assert in_words(text) == found


def parsed(text):
    """A sentence of words with their heads and relations: `cat/2/nsubj`, in base form."""
    rows = (row.split("/") for row in text.split())
    return [Node(n, word, int(head), name) for n, (word, head, name) in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        # As in Universal Dependencies.
        ("cat/3/nsubj be/3/cop black/0/root", {"black cat"}),
        ("cat/3/nsubj be/3/cop small/0/root and/5/cc black/3/conj", {"small cat", "black cat"}),
        ("small/4/amod and/3/cc black/1/conj cat/0/root", {"small cat", "black cat"}),
        ("man/2/nsubj sit/0/root and/4/cc eat/2/conj", {"eat man"}),
        ("man/2/nsubj sit/0/root and/5/cc horse/5/nsubj eat/2/conj", {"eat horse"}),
        ("man/3/nsubj bird/1/conj fly/0/root", {"fly bird"}),
        # As in spaCy's English models.
        ("cat/2/nsubj be/0/ROOT black/2/acomp", {"black cat"}),
        ("cat/2/nsubj be/0/ROOT black/2/attr", {"black cat"}),
        ("cat/2/nsubj be/0/ROOT small/2/acomp and/3/cc black/3/conj", {"small cat", "black cat"}),
        ("cat/2/nsubj sit/0/ROOT and/2/cc be/2/conj black/4/acomp", {"black cat"}),
        ("cat/0/ROOT that/3/nsubj be/1/acl:relcl black/3/acomp", {"black cat"}),
        ("dog/2/nsubj see/0/ROOT cat/2/dobj be/2/conj black/4/acomp", set()),
        ("black/2/amod dog/0/ROOT and/2/cc cat/2/conj", set()),
        # No tree: the words depend on each other.
        ("cat/2/nsubj black/3/conj small/2/conj", {"black cat", "small cat"}),
    ],
)
def test_pairs_are_found_in_parses_of_both_sorts(sentence, found):
    assert pairs_in_parses([parsed(sentence)], all_pairs()) == found


def test_an_unknown_pair_is_an_error(write):
    with pytest.raises(CommandError, match="no pair 'purple cat'. Pairs: black cat,"):
        call_command("compositional_split", write("c.json", coco(CAPTIONS)), pair=["purple cat"])


# Splits


def occurrences(captions):
    rows = [
        Described(number, image, text)
        for number, (image, text) in enumerate(
            (image, text) for image, texts in captions.items() for text in texts
        )
    ]
    return count_pairs((row, in_words(row.text)) for row in rows)


def test_training_has_no_image_with_the_pair(black_cat):
    split = hold_out(black_cat, occurrences(CAPTIONS), validation_share=1 / 3, seed=1)

    assert split.training == [3, 5]
    assert sorted(split.validation + split.evaluation) == [1, 2, 4]
    assert split.counts == {"training": 2, "validation": 1, "evaluation": 2}


def test_the_seed_alone_decides_the_draw(black_cat):
    many = occurrences({image: ["A black cat"] for image in range(40)})
    draws = [hold_out(black_cat, many, seed=seed) for seed in (1, 1, 2)]

    assert draws[0] == draws[1] != draws[2]


def test_captions_of_other_images_serve_for_evaluation(black_cat):
    other = occurrences({7: ["A black cat"], 8: ["A cat"]})

    split = hold_out(black_cat, occurrences(CAPTIONS), evaluation=other)

    assert split == ([3, 5], [1, 2, 4], [7])


def test_captions_for_evaluation_are_of_other_images(write):
    captions = write("captions.json", coco(CAPTIONS))
    others = write("others.json", coco({2: ["A black cat"], 3: ["A black cat"], 7: ["A cat"]}))

    with pytest.raises(
        CommandError, match=r"must be of other images\. Both files have images 2, 3"
    ):
        call_command("compositional_split", captions, evaluation=others)


def test_recall_is_the_share_of_images_with_one_caption_that_has_the_pair(black_cat):
    generated = occurrences({1: ["A sofa", "A black cat"], 2: ["A cat", "A black sofa"]})

    assert recall(black_cat, [1, 2, 4], generated) == (3, 1)
    assert recall(black_cat, [1, 2, 4], generated).value == pytest.approx(1 / 3)
    assert recall(black_cat, [], generated).value is None


def test_recall_by_the_number_of_references_that_agree(black_cat):
    generated = occurrences({1: ["A black cat"], 2: ["A black cat"], 4: ["A cat"]})

    found = recall_by_agreement(black_cat, [1, 2, 4], occurrences(CAPTIONS), generated)

    assert found == {1: (2, 1), 2: (1, 1)}


# The command


def test_the_command_writes_the_ids_and_the_recall(write, tmp_path, capsys):
    captions = write("captions.json", coco(CAPTIONS))
    results = write(
        "results.json",
        [
            {"image_id": image, "caption": text}
            for image in (1, 2)
            for text in ("A sofa", "A black cat")
        ],
    )

    found = run(capsys, captions, "--results", results, "--validation-share=0", "--out", tmp_path)

    black_cat = found["pairs"][0]
    assert found["info"]["found_by"] == "words"
    assert found["info"]["most_captions"] == 2
    assert (black_cat["training"], black_cat["evaluation"]) == ([3, 5], [1, 2, 4])
    assert black_cat["recall"] == {"images": 3, "found": 2, "recall": pytest.approx(2 / 3)}
    assert black_cat["without_results"] == 1
    assert black_cat["recall_by_references"]["2"] == {"images": 1, "found": 1, "recall": 1.0}
    assert json.loads((tmp_path / "split.json").read_text()) == found


def test_the_table_has_a_line_for_each_pair(write, capsys):
    captions = write("captions.json", coco(CAPTIONS))
    results = write("results.json", [{"image_id": 1, "caption": "A black cat"}])

    call_command("compositional_split", captions, results=results, validation_share=0.0)

    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["pair", "training", "validation", "evaluation", "Recall@1"]
    assert lines[2].split() == ["black", "cat", "2", "0", "3", "33.3%"]
    assert lines[3].split() == ["small", "plane", "5", "0", "0", "–"]
    assert len(lines) == 26


def test_dependency_parses_decide_where_they_are_given(write, capsys):
    captions = write("captions.json", coco({1: ["x"], 2: ["x"], 3: ["x"]}))
    relations = {100: "amod", 101: "nmod", 102: "acl:relcl"}
    parses = write(
        "parses.conllu",
        "".join(CONLLU.format(id=number, relation=name) for number, name in relations.items()),
    )

    found = run(capsys, captions, "--parses", parses, "--pair=black cat", "--validation-share=0")

    assert found["info"]["found_by"] == "parses"
    assert found["pairs"][0]["evaluation"] == [1, 3]


def test_a_caption_of_several_sentences_and_words_of_several_tokens_are_read(write):
    block = CONLLU.format(id="7-2", relation="amod")
    contraction = (
        "# sent_id = 7-1\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\t_\t_\t_\t0\troot\t_\t_\n"
    )

    found = read_conllu(write("parses.conllu", f"{contraction}\n{block}"))

    assert [[node.lemma for node in sentence] for sentence in found[7]] == [
        ["do"],
        ["a", "black", "cat"],
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "has no sentence"),
        ("1\tcat\n", "10 columns are expected, there are 2"),
        ("1\tcat\tcat\tN\t_\t_\t0\troot\t_\t_\n", "no `# sent_id = ID`"),
        (f"# sent_id = {'9' * 5000}\n1\tcat\tcat\tN\t_\t_\t0\troot\t_\t_\n", "no `# sent_id"),
        ("# sent_id = 1\n1\tcat\tcat\tN\t_\t_\tx\troot\t_\t_\n", "HEAD 'x' is not a number"),
        (CONLLU.format(id=5, relation="amod"), "has no sentence for caption 100"),
    ],
)
def test_parses_of_another_form_are_an_error(write, content, reason):
    captions, parses = write("captions.json", coco(CAPTIONS)), write("parses.conllu", content)

    with pytest.raises(CommandError, match=reason):
        call_command("compositional_split", captions, parses=[parses])


def test_each_file_needs_its_parses(write):
    captions, parses = write("captions.json", coco(CAPTIONS)), write("parses.conllu", "")

    with pytest.raises(CommandError, match="once for each of the 2 files: captions, evaluation"):
        call_command("compositional_split", captions, evaluation=captions, parses=[parses])


def test_a_spacy_model_parses_the_captions(tmp_path, write, capsys):
    spacy = import_module("spacy")
    language = import_module("spacy.language").Language

    @language.component("attach_each_word_to_the_next")
    def attach(document):
        for token in document:
            is_last = token.i == len(document) - 1
            token.head = token if is_last else document[token.i + 1]
            token.dep_ = "ROOT" if is_last else "amod"
            token.lemma_ = token.text.lower()
        return document

    model = spacy.blank("en")
    model.add_pipe("attach_each_word_to_the_next")
    model.to_disk(tmp_path / "model")
    captions = write("captions.json", coco({1: ["A black cat"], 2: ["A cat black"]}))

    found = run(
        capsys, captions, "--spacy", tmp_path / "model", "--pair=black cat", "--validation-share=0"
    )

    assert found["info"]["found_by"].startswith("spacy ")
    assert found["pairs"][0]["evaluation"] == [1]


def test_a_missing_model_is_named_and_not_downloaded():
    with pytest.raises(DomainError, match="no model 'en_nowhere'"):
        spacy_parser("en_nowhere")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({}, "no list `annotations`"),
        ([], "it has no caption"),
        ([[]], "is not a JSON object"),
        ({"annotations": [{"id": 1, "image_id": "1", "caption": ""}]}, "'1' is not a whole number"),
        ({"annotations": [{"image_id": 1, "caption": ""}]}, r"annotations\[0\]: id None"),
        ([{"image_id": 1, "caption": 5}], "5 is not a text"),
        ({"annotations": [{"id": 1, "image_id": 1, "caption": "a"}] * 2}, "the same id"),
    ],
)
def test_captions_of_another_form_are_an_error(write, content, reason):
    with pytest.raises(CommandError, match=reason):
        call_command("compositional_split", write("captions.json", content))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_0_to_1_is_an_error(write, share):
    with pytest.raises(CommandError, match="from 0 to 1"):
        call_command(
            "compositional_split", write("captions.json", coco(CAPTIONS)), validation_share=share
        )
