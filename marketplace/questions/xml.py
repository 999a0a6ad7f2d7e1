"""Safe reading of XML from outside, and checking it against the schemas in `schemas/`."""

import threading
from functools import lru_cache
from pathlib import Path

from defusedxml import DefusedXmlException
from defusedxml import ElementTree as SafeElementTree
from lxml import etree

from marketplace.errors import QuestionRefused

SCHEMAS = Path(__file__).parent / "schemas"
NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"


def read(text: str, *, what: str) -> etree._Element:
    """The document's root; raises QuestionRefused if it is no XML or declares a DTD."""
    try:
        # Refuses entity bombs before the parser that keeps schemas sees the text.
        SafeElementTree.fromstring(text.encode(), forbid_dtd=True)
        return etree.fromstring(
            text.encode(), etree.XMLParser(resolve_entities=False, no_network=True)
        )
    except DefusedXmlException as error:
        raise QuestionRefused(
            f"There was an error parsing the XML {what}: document type declarations and entities "
            "are not allowed.",
            code="XMLParseError",
        ) from error
    except (SafeElementTree.ParseError, etree.XMLSyntaxError, ValueError) as error:
        raise QuestionRefused(
            f"There was an error parsing the XML {what}: {error}", code="XMLParseError"
        ) from error


def validate(root: etree._Element, schema_name: str, *, what: str) -> None:
    """Check the document against a schema; raises QuestionRefused with its first error."""
    try:
        _schema(schema_name, threading.get_ident()).assertValid(root)
    except etree.DocumentInvalid as error:
        raise QuestionRefused(
            f"There was an error parsing the XML {what} in your request. Please make sure the "
            "data is well-formed and validates against the appropriate schema. Details: "
            f"{error}",
            code="XMLParseError",
        ) from error


@lru_cache(maxsize=256)
def _schema(name: str, _thread: int) -> etree.XMLSchema:
    # A schema keeps its errors, so each thread has its own.
    return etree.XMLSchema(etree.parse(str(SCHEMAS / name)))


FORM_NAMESPACE = f"{NAMESPACE}2017-11-06/QuestionForm.xsd"


def in_namespace(root: etree._Element, namespace: str) -> etree._Element:
    """A copy of the document with all its elements moved to the namespace."""
    copy = etree.fromstring(etree.tostring(root))
    for element in copy.iter(etree.Element):
        element.tag = f"{{{namespace}}}{etree.QName(element).localname}"
    return copy


def local_name(element: etree._Element) -> str:
    """The element's name without its namespace."""
    return etree.QName(element).localname


def child(element: etree._Element, name: str) -> etree._Element | None:
    """The first child of that name, in whatever namespace."""
    return next((each for each in children(element, name)), None)


def children(element: etree._Element, name: str | None = None) -> list[etree._Element]:
    """The child elements, those of one name or all; comments are left out."""
    return [
        each
        for each in element
        if isinstance(each.tag, str) and name in (None, etree.QName(each).localname)
    ]


def text_of(element: etree._Element, name: str, default: str = "") -> str:
    """The text of the child of that name."""
    found = child(element, name)
    return default if found is None else (found.text or "").strip()
