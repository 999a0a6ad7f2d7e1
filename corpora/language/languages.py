"""Rules of captions that differ between languages.

Does not use Django. A campaign names the language of its captions by a BCP 47 tag, and any tag is
possible. A language without an entry here has the general rules only.
"""

import re
from dataclasses import dataclass
from functools import cache

ENGLISH = "en"
# The tags of BCP 47 that a campaign may name: a language, its script and its region.
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")


def checked_tag(tag: str) -> str:
    """The tag of a language; raises ValueError if it is none."""
    if LANGUAGE_TAG.fullmatch(tag) is None:
        raise ValueError('write the tag of a language, such as "de", "zh" or "pt-BR"')
    return tag


def in_usual_case(tag: str) -> str:
    """The tag in its usual case, `pt-BR`; case has no meaning (RFC 5646, section 2.1.1)."""
    language, *others = tag.split("-")
    cased = (part.upper() if len(part) == 2 else part.capitalize() for part in others)
    return "-".join([language.lower(), *cased])


@dataclass(frozen=True)
class Language:
    """A language in which captions are written.

    `openings` matches the beginning of a sentence that says no more than that something exists,
    and `openings_in_words` quotes it for the worker. `listing_words` may stand in a list of
    keywords, `joining_words` may not, and `conjunctions` separate a list's items.
    """

    code: str
    name: str
    openings: re.Pattern[str] | None = None
    openings_in_words: str = ""
    listing_words: frozenset[str] = frozenset()
    joining_words: frozenset[str] = frozenset()
    conjunctions: tuple[str, ...] = ()
    full_stop: str = "."


def _language(
    code: str,
    name: str,
    *,
    openings: str = "",
    quoted: str = "",
    listing: str = "",
    joining: str = "",
    conjunctions: str = "",
    full_stop: str = ".",
) -> Language:
    return Language(
        code,
        name,
        re.compile(rf"\W*{openings}", re.IGNORECASE) if openings else None,
        quoted,
        frozenset(listing.split()),
        frozenset(joining.split()),
        tuple(conjunctions.split()),
        full_stop,
    )


LANGUAGES = {
    language.code: language
    for language in (
        _language(
            ENGLISH,
            "English",
            openings=r"there(\s+(is|are|was|were)\b|['’](s|re)\b)",
            quoted="“There is”, “There are”",
            listing="a an the and or with some",
            joining="with in on of at by is are including",
            conjunctions="and or",
        ),
        _language(
            "de",
            "German",
            openings=r"(es\s+gibt|da\s+(ist|sind)|hier\s+(ist|sind))\b",
            quoted="„Es gibt“, „Da ist“, „Hier ist“",
            listing="ein eine einen einem einer der die das den dem und oder mit",
            joining="mit in im auf an am von vor bei neben ist sind",
            conjunctions="und oder",
        ),
        _language(
            "es",
            "Spanish",
            openings=r"(hay|aquí\s+hay|se\s+ve|se\s+ven)\b",
            quoted="«Hay», «Se ve»",
            listing="un una unos unas el la los las y e o u con",
            joining="con en de del sobre por al es son está están",
            conjunctions="y e o u",
        ),
        _language(
            "fr",
            "French",
            openings=r"(il\s+y\s+a|voici|voilà|on\s+voit)\b",
            quoted="« Il y a », « Voici », « On voit »",
            listing="un une des le la les l et ou avec",
            joining="avec dans sur de du en à au aux est sont",
            conjunctions="et ou",
        ),
        _language(
            "zh",
            "Chinese",
            openings="(这里|那里|图中|图片中|画面中)?有",
            quoted="“有”、“这里有”、“图中有”",
            listing="和 与 或 一 个 一个",
            joining="在 的 着 正在 上 里 是",
            conjunctions="和 与 或",
            full_stop="。",
        ),
        _language(
            "ja",
            "Japanese",
            openings="(ここに|そこに|画像に|写真に)は",
            quoted="「ここには」「写真には」",
            listing="と や",
            joining="が を に で は て いる",
            full_stop="。",
        ),
        _language(
            "ar",
            "Arabic",
            openings=r"(هناك|هنالك|يوجد|توجد)\b",
            quoted="«هناك»، «يوجد»",
            listing="و أو",
            joining="في على من إلى مع تحت فوق أمام",
            conjunctions="و أو",
        ),
    )
}


# What ends a sentence in languages without rules of their own here; in others a point does.
FULL_STOPS = {
    **dict.fromkeys(("as", "bn", "hi", "ne", "or", "pa", "sa"), "।"),
    **dict.fromkeys(("am", "ti"), "።"),
    **dict.fromkeys(("lo", "th"), ""),
    **{"hy": "։", "km": "។", "my": "။", "ur": "۔"},
}
ENDINGS = "".join({".", "。", *FULL_STOPS.values()})


@cache
def language_of(tag: str) -> Language:
    """The language of a BCP 47 tag: `pt-BR` has the rules of `pt`, if there are any."""
    primary = tag.split("-")[0].lower()
    full_stop = FULL_STOPS.get(primary, ".")
    return LANGUAGES.get(primary) or Language(primary, tag, full_stop=full_stop)


def is_english(tag: str) -> bool:
    return language_of(tag).code == ENGLISH


def tags_from_narrow(tag: str) -> list[str]:
    """The tags that serve a BCP 47 tag, in lower case, the narrowest first: `pt-BR` is served by
    `pt-br` and `pt` (RFC 4647, section 3.4)."""
    subtags = tag.lower().split("-")
    return ["-".join(subtags[:length]) for length in range(len(subtags), 0, -1)]
