"""Parse untrusted XML, and validate it against the schemas in `schemas/`."""

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
    """The root of the document, without comments; raises QuestionRefused if it is not XML or
    declares a DTD."""
    # The text was decoded already, whatever encoding it declares. An element's text would end at a
    # comment in it.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        # defusedxml refuses entity bombs before lxml, which validates schemas, sees the text.
        SafeElementTree.fromstring(text, forbid_dtd=True)
        return etree.fromstring(text.encode(), parser)
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
    """Validate a document against a schema; raises QuestionRefused with the first error."""
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
    # An XMLSchema object stores its errors, so each thread needs its own.
    return etree.XMLSchema(etree.parse(str(SCHEMAS / name)))


FORM_NAMESPACE = f"{NAMESPACE}2017-11-06/QuestionForm.xsd"


def in_namespace(root: etree._Element, namespace: str) -> etree._Element:
    """A copy of the document with all elements moved to the namespace."""
    copy = etree.fromstring(etree.tostring(root))
    for element in copy.iter(etree.Element):
        element.tag = f"{{{namespace}}}{etree.QName(element).localname}"
    return copy


def local_name(element: etree._Element) -> str:
    """The element's name without its namespace."""
    return etree.QName(element).localname


def child(element: etree._Element, name: str) -> etree._Element | None:
    """The first child with this name in any namespace, or None."""
    return next((child for child in children(element, name)), None)


def children(element: etree._Element, name: str | None = None) -> list[etree._Element]:
    """The child elements, all or those with this name."""
    return [child for child in element if name in (None, etree.QName(child).localname)]


def text_of(element: etree._Element, name: str, default: str = "") -> str:
    """The stripped text of the child with this name, or `default`."""
    found = child(element, name)
    return default if found is None else (found.text or "").strip()
