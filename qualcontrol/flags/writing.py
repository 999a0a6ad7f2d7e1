"""Flags from a caption's own text: length, rules, language, spelling, grammar.

Most need a dictionary or the grammar of English, so campaigns in other languages do without them.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

from annotate.campaign_file import CampaignConfig
from corpora.language.english import is_known, words
from corpora.language.languages import ENGLISH, LANGUAGES, is_english, language_of
from corpora.language.text import MOST_COMPARED, URL, is_bare_list, is_keyword_list
from corpora.language.tokens import written
from corpora.wording import counted
from qualcontrol.flags.flag import Flag, allowance

# Content that the instructions forbid: the future, guesses, and quotations.
GUESS = re.compile(r"\b(will|going to|might|probably|maybe|perhaps)\b", re.IGNORECASE)
QUOTATION = re.compile(r"[\"“«][^\"“”«»]{3,}[\"”»]")
LISTING_WORDS = LANGUAGES[ENGLISH].listing_words
# Shorter texts say too little about their language.
FEWEST_WORDS = 4
# The most common words of languages that workers write in, except those that English has, too.
OTHER_LANGUAGES = {
    language: frozenset(listed.split())
    for language, listed in {
        "Spanish": "el los las una uno del con que por para está están en y su sus es al hay de la",
        "Portuguese": "os uma um com que por para está estão em da do na no sobre seu é e o",
        "French": "le les une un des et avec dans sur qui est sont du au aux ses deux il de la",
        "Italian": "il lo gli una uno di che con per su sono è della del nella due e un la",
        "German": "der das ein eine einen einem und mit auf vor ist sind im den dem zwei neben",
        "Dutch": "het een en met op van voor zijn twee naast aan de staat",
        "Indonesian": "yang dan di dengan seorang sebuah itu ini ada pada untuk sedang dua",
        "Tagalog": "ang ng mga sa na ay isang may nasa siya si at",
        "Vietnamese": "một và người đang trên của có trong với những các là",
        "Turkish": "bir ve ile için bu olan üzerinde iki olarak var çok",
        "Polish": "na się jest są dwa przez który jego ze od w i z",
        "Swedish": "en ett och med på som är av den två framför står",
    }.items()
}
# Words that are rare in captions by people and common in fluent filler.
ORNATE = re.compile(
    r"\b(vibrant\w*|seren(e|ity)|bustling|showcas\w+|captur(es|ing)|adorn\w*|amidst?|juxtapos\w+"
    r"|atmosphere|ambian\w+|ambien\w+|breathtaking|picturesque|evok\w+|tranquil\w*|intricate\w*"
    r"|whimsical|overall|backdrop|meticulous\w*|stunning|nestled|exud\w+|bathed|illuminat\w+"
    r"|gracefully|majestic\w*|depict\w*|sense of|creating|adding|suggest\w*|emphasi\w+"
    r"|highlight\w*|gaz\w+|captivating|elegant\w*|exquisite\w*|charming|harmon\w+|testament"
    r"|symphony|tapestry|moment of|scene (is|of)|contrast\w*)\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?]\s+[A-Z]")

# Few captions of nocaps and COCO reach these: see docs/flags.md and `benchmarks.flags`.
FUNCTION_WORD_SHARE = 0.10
GIBBERISH = 0.5  # share of words unknown or repeated
FOREIGN = 0.25  # share of words, or of letters
BROKEN_ORDER = 2  # pairs of words
# A text with a larger share of function words is not a list, so keywords are not looked up.
SENTENCE = 0.35

# Flags that say nothing of words that were added to somebody else's text.
OF_WHOLE_TEXTS = frozenset(
    {"too_short", "keyword_list", "unfinished", "broken_order", "odd_order", "sentences"}
)

Keywords = Callable[[], Sequence[str]]
Check = Callable[[str, CampaignConfig, Keywords], Flag | None]


def no_keywords() -> Sequence[str]:
    return ()


def writing_flags(
    text: str, config: CampaignConfig, keywords: Keywords = no_keywords
) -> list[Flag]:
    """The flags from the text alone. `keywords` returns the keywords that the worker was shown."""
    checks = CHECKS if is_english(config.language) else CHECKS_IN_ANY_LANGUAGE
    flags = [check(text, config, keywords) for check in checks]
    return [flag for flag in flags if flag is not None]


def _too_short(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    count, least = len(words(text)), config.captions.least_words
    if count >= least:
        return None
    return Flag("too_short", count, least, f"{counted(count, 'word')}; the minimum is {least}.")


def _too_long(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    count, most = len(words(text)), config.captions.most_words
    if count <= most:
        return None
    return Flag("too_long", count, most, f"{counted(count, 'word')}; the maximum is {most}.")


def _rule_words(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    # Long descriptions quote the words that can be read in the image.
    matches = [QUOTATION.search(text)] if config.captions.style == "sentence" else []
    if is_english(config.language):
        guesses = list(GUESS.finditer(text))
        matches += guesses if len(guesses) >= allowance(len(words(text)), config) else []
    openings = language_of(config.language).openings
    if config.captions.forbid_there_is and openings:
        matches.append(openings.match(text))
    if config.captions.forbid_urls:
        matches.append(URL.search(text))
    named = [match.group().strip() for match in matches if match]
    if not named:
        return None
    return Flag(
        "rule_words", len(named), 1, f"Contains what the instructions forbid: “{named[0]}”."
    )


def _bare_list(text: str, config: CampaignConfig, keywords: Keywords) -> Flag | None:
    """The part of `_keyword_list` that any language has."""
    language = language_of(config.language)
    if is_keyword_list(text, keywords(), language):
        return Flag("keyword_list", 1, 1, "Only lists the keywords.")
    if is_bare_list(text, language):
        return Flag("keyword_list", 1, 1, "Only lists words, or repeats a few.")
    return None


def _keyword_list(text: str, _config: CampaignConfig, keywords: Keywords) -> Flag | None:
    share = function_word_share(words(text))
    # A text with a verb or a preposition is not a list, so its keywords are not looked up.
    joins = any(word in FUNCTION_WORDS and word not in LISTING_WORDS for word in words(text))
    if not joins and is_keyword_list(text, keywords()):
        why = "Only lists the keywords."
    elif is_bare_list(text):
        why = "Only lists words, or repeats a few."
    elif share < FUNCTION_WORD_SHARE and len(words(text)) >= FEWEST_WORDS:
        why = f"Reads like a list: {share:.0%} of the words are function words."
    else:
        return None
    return Flag("keyword_list", share, FUNCTION_WORD_SHARE, why)


def _misspelled(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    unknown = [word for word in words(text) if not is_known(word)]
    least = config.flags.misspelled * allowance(len(words(text)), config)
    if len(unknown) < least:
        return None
    why = f"Unknown words: {', '.join(f'“{word}”' for word in unknown[:3])}."
    return Flag("misspelled", len(unknown), least, why)


def _gibberish(text: str, _config: CampaignConfig, _: Keywords) -> Flag | None:
    tokens = words(text)
    if len(tokens) < 2:
        return None
    unknown = sum(not is_known(word) for word in tokens) / len(tokens)
    first = tokens[:MOST_COMPARED]
    repeated = 1 - len(set(first)) / len(first)
    if max(unknown, repeated) < GIBBERISH:
        return None
    if unknown >= repeated:
        return Flag("gibberish", unknown, GIBBERISH, f"{unknown:.0%} of the words are unknown.")
    return Flag("gibberish", repeated, GIBBERISH, f"{repeated:.0%} of the words are repetitions.")


def _foreign(text: str, _config: CampaignConfig, _: Keywords) -> Flag | None:
    tokens = words(text)
    own = function_word_share(tokens)
    if own > SENTENCE:
        return None
    letters = [character for character in text if character.isalpha()]
    latin = sum("LATIN" in unicodedata.name(character, "") for character in letters)
    if letters and 1 - latin / len(letters) >= FOREIGN:
        share = 1 - latin / len(letters)
        return Flag("foreign", share, FOREIGN, f"{share:.0%} of the letters are not Latin.")
    if len(tokens) < FEWEST_WORDS:
        return None
    shares = {
        language: sum(word in common for word in tokens) / len(tokens)
        for language, common in OTHER_LANGUAGES.items()
    }
    language = max(shares, key=lambda name: (shares[name], name))
    if shares[language] < max(FOREIGN, own):
        return None
    return Flag("foreign", shares[language], FOREIGN, f"Appears to be {language}.")


def _unfinished(text: str, _config: CampaignConfig, _: Keywords) -> Flag | None:
    last = breaks_off_at(text)
    return Flag("unfinished", 1, 1, f"Breaks off at “{last}”.") if last else None


def _order(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    pairs, least = impossible_pairs(text), allowance(len(words(text)), config)
    why = (
        f"Word pairs that do not occur in English: {', '.join(f'“{pair}”' for pair in pairs[:3])}."
    )
    if len(pairs) >= BROKEN_ORDER * least:
        return Flag("broken_order", len(pairs), BROKEN_ORDER * least, why)
    return Flag("odd_order", len(pairs), least, why) if len(pairs) >= least else None


def _ornate(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    phrases = [match.group() for match in ORNATE.finditer(text)]
    # Words for light and contrast belong into long descriptions.
    least = 2 * allowance(len(words(text)), config) if config.captions.style != "sentence" else 1
    if len(phrases) < least:
        return None
    why = f"Unusually ornate wording: “{phrases[0]}”."
    return Flag("ornate", len(phrases), least, why)


def _sentences(text: str, config: CampaignConfig, _: Keywords) -> Flag | None:
    if config.captions.style == "paragraph":
        return None
    count = 1 + len(SENTENCE_END.findall(text))
    return Flag("sentences", count, 2, f"Has {count} sentences.") if count > 1 else None


CHECKS_IN_ANY_LANGUAGE: tuple[Check, ...] = (
    _too_short,
    _too_long,
    _rule_words,
    _bare_list,
    _sentences,
)
CHECKS: tuple[Check, ...] = (
    _too_short,
    _too_long,
    _rule_words,
    _keyword_list,
    _misspelled,
    _gibberish,
    _foreign,
    _unfinished,
    _order,
    _ornate,
    _sentences,
)


# The grammar: a short list of impossible transitions between function words, not a parser. It finds
# few errors, but is nearly always right, takes microseconds, and can name the words.
BEGIN, END = "^", "$"
STOPS = ',.;:!?()"“”'


def _listed(words: str, separator: str | None = None) -> frozenset[str]:
    return frozenset(words.split(separator))


CLASSES = {
    "article": _listed("a an the"),
    "possessive": _listed("his their its my your our"),
    "preposition": _listed(
        "of with from into onto at for during among between against toward towards beside upon "
        "without"
    ),
    # These can also stand alone: "the cars drive by".
    "particle": _listed(
        "in on by up down off over through around near behind along across under inside outside "
        "above below"
    ),
    "conjunction": _listed("and or but"),
    "be": _listed("is are was were"),
    "have": _listed("has have had"),
    "pronoun": _listed("he she they it who which"),
    "to": _listed("to"),
    # Words that need a noun after them.
    "attribute": _listed("several various numerous multiple very large small little every"),
    "transitive": _listed("wearing holding featuring containing including having using"),
    # Things that captions name often and that are not also verbs.
    "noun": _listed(
        "animal animals background bathroom beach bear bed bench bicycle bird boat bottle bowl boy "
        "building buildings bus cake camera car cars cat chair chairs child children clock "
        "computer couch cow desk dog door elephant flowers food game giraffe girl glasses grass "
        "guy hair hands hat helmet horse jacket keyboard kid kitchen lady laptop man men "
        "motorcycle ocean oven people person pizza plane player players racket refrigerator road "
        "room sandwich sheep shirt sidewalk skateboard sky sofa stove street surfboard table team "
        "television toilet train tree trees truck umbrella vase vegetables wall window windows "
        "woman women zebra"
    ),
}
CLASS_OF = {word: name for name, listed in CLASSES.items() for word in listed}
CLASS_OF |= {BEGIN: BEGIN, END: END}
CONTENT_CLASSES = ("attribute", "transitive", "noun")
FUNCTION_WORDS = frozenset(CLASS_OF).difference(*(CLASSES[name] for name in CONTENT_CLASSES)) | (
    _listed(
        "this that these those be being been while as some her him them there where next out not "
        "no each other"
    )
)

# A word of the class on the left cannot be followed by a word of the classes on the right.
IMPOSSIBLE = {
    BEGIN: _listed("conjunction be to"),
    "article": _listed(
        f"article possessive preposition particle conjunction be have pronoun to {END}"
    ),
    "possessive": _listed(f"article possessive preposition particle conjunction be have to {END}"),
    "preposition": _listed(f"preposition conjunction be have to {END}"),
    "particle": _listed("conjunction be have"),
    "conjunction": _listed(f"conjunction {END}"),
    "be": _listed(f"be have conjunction {END}"),
    "have": _listed(f"be have conjunction preposition {END}"),
    "to": _listed(f"to conjunction be preposition particle {END}"),
    "attribute": _listed(f"article be have pronoun to {END}"),
    "transitive": _listed(f"be have to {END}"),
    "noun": _listed("article possessive"),
}
# Exceptions that good sentences have: "parked in the near distance", "up and down".
ALLOWED = _listed(
    "the inside/the outside/the above/the near/a near/the below/an over/an above/an off/a down/"
    "an under/a through/an up/the under/an inside/an outside/the over/the down/the up/an on/"
    "from between/from behind/from under/from inside/from above/up and/over and/down and/off and/"
    "through and/in and/on and/around and/inside and/outside and/by and/behind and/above and/"
    "beside of/large to/small to/little to",
    "/",
)
# Adjectives that can end a sentence: "the room is small".
MAY_END = _listed("large small little several various numerous multiple")
MAY_DOUBLE = _listed("had that very")
# Words that begin with the sound of a vowel ("one" and "unicorn" do not) or of a consonant.
VOWEL = re.compile(r"[aeiou](?!ne\b|ni|se|ur|ti|we|k)")
CONSONANT = re.compile(r"[bcdgjkpqtvwyz][a-z]*[aeiouy]")
CAPITAL_IN_MIDDLE = re.compile(r"[a-z,]\s+(A|An|The|In|On|With|And|Is|Are|Of|At|There|Several)\s")
STOP_IN_MIDDLE = re.compile(r"[a-z]{3,40}\.\s+[a-z]")


def impossible_pairs(text: str) -> list[str]:
    """Pairs of neighbouring words that English does not have. The end of the sentence is
    ignored."""
    sequence = [BEGIN, *_tokens(text)]
    pairs = [
        f"{left} {right}".removeprefix(f"{BEGIN} ")
        for left, right in zip(sequence, sequence[1:], strict=False)
        if _is_impossible(left, right)
    ]
    spelt = [match.group().strip() for match in CAPITAL_IN_MIDDLE.finditer(text)]
    return pairs + spelt + [match.group() for match in STOP_IN_MIDDLE.finditer(text)]


def breaks_off_at(text: str) -> str:
    """The last word of a text if no sentence can end with it; otherwise empty."""
    tokens = _tokens(text)
    if not tokens or tokens[-1] in MAY_END:
        return ""
    return tokens[-1] if _is_impossible(tokens[-1], END) else ""


@lru_cache(maxsize=4096)
def function_word_share(tokens: tuple[str, ...]) -> float:
    """The share of function words, 0 to 1. Captions have about 0.45. Conjunctions do not count,
    because lists have them, too."""
    counting = [token for token in tokens if token not in CLASSES["conjunction"]]
    return sum(token in FUNCTION_WORDS for token in counting) / len(counting) if counting else 0.0


def _tokens(text: str) -> list[str]:
    """Words in lower case, with commas and full stops between them as tokens."""
    return written(text.casefold().rstrip(" .!?\"”'"), STOPS)


def _is_impossible(left: str, right: str) -> bool:
    if f"{left} {right}" in ALLOWED:
        return False
    if left == right and left.isalpha() and len(left) > 1:
        return left not in MAY_DOUBLE
    if left == "a" and VOWEL.match(right) or left == "an" and CONSONANT.match(right):
        return True
    return CLASS_OF.get(right, "") in IMPOSSIBLE.get(CLASS_OF.get(left, ""), ())
