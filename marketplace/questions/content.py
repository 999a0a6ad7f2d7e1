"""The content of a QuestionForm: titles, texts, lists, media, and sanitised formatted text."""

import re
from dataclasses import dataclass
from html.entities import name2codepoint

import nh3
from lxml import etree

from marketplace.errors import QuestionRefused

from . import xml

# Elements allowed in formatted text. Others are reduced to their text.
TAGS = {
    "a", "b", "big", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup",
    "dd", "del", "dfn", "div", "dl", "dt", "em", "font", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
    "i", "img", "ins", "kbd", "li", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strike",
    "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul",
    "var",
}  # fmt: skip
# Attributes that cannot contain a script or URL.
ATTRIBUTES = {
    "align", "alt", "border", "cellpadding", "cellspacing", "color", "colspan", "dir", "height",
    "lang", "rowspan", "size", "span", "start", "title", "type", "valign", "width",
}  # fmt: skip
MEDIA = {"image", "audio", "video"}
_OF_XML = {"amp", "lt", "gt", "quot", "apos"}
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")


@dataclass(frozen=True)
class Block:
    """A piece of content. `html` is sanitised and set only for formatted text."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    url: str = ""
    html: str = ""


def blocks(element: etree._Element) -> tuple[Block, ...]:
    """The pieces in an Overview or QuestionContent; raises QuestionRefused for invalid ones."""
    return tuple(block(each) for each in xml.children(element))


def block(element: etree._Element) -> Block:
    """One piece of content; raises QuestionRefused if it cannot be shown."""
    name = xml.local_name(element)
    text = (element.text or "").strip()
    if name == "List":
        return Block("list", items=tuple(each.text or "" for each in xml.children(element)))
    if name == "FormattedContent":
        return Block("html", html=formatted(text))
    if name in ("Binary", "EmbeddedBinary"):
        return _media(element)
    return Block("title" if name == "Title" else "text", text)


def _media(element: etree._Element) -> Block:
    url = xml.text_of(element, "DataURL")
    if not _is_web_address(url):
        raise QuestionRefused(f'The DataURL "{url}" must be an http or https address.')
    mime = xml.child(element, "MimeType")
    if mime is None:
        mime = xml.child(element, "EmbeddedMimeType")
    kind = "image" if mime is None else xml.text_of(mime, "Type").lower()
    return Block(kind if kind in MEDIA else "link", xml.text_of(element, "AltText"), url=url)


def _is_web_address(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def formatted(text: str) -> str:
    """Sanitised formatted text; raises QuestionRefused if it is not XHTML."""
    # XHTML defines named characters that XML does not.
    text = _ENTITY.sub(_character, text)
    try:
        root = xml.read(f"<body>{text}</body>", what="FormattedContent")
    except QuestionRefused as error:
        raise QuestionRefused(str(error), code="XHTMLParseError") from error
    for image in root.iter("img"):
        image.set("alt", image.get("alt", ""))
    safe: str = _CLEANER.clean(etree.tostring(root, encoding="unicode", method="html"))
    return safe


def _character(entity: re.Match[str]) -> str:
    name = entity[1]
    known = name in name2codepoint and name not in _OF_XML
    return chr(name2codepoint[name]) if known else entity[0]


def _only_web_addresses(_tag: str, name: str, value: str) -> str | None:
    return value if name not in ("href", "src") or _is_web_address(value) else None


_CLEANER = nh3.Cleaner(
    tags=TAGS,
    # The text of a script is shown.
    clean_content_tags=set(),
    attributes={"*": ATTRIBUTES, "a": {"href"}, "img": {"src"}},
    attribute_filter=_only_web_addresses,
    link_rel="noopener noreferrer",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)
