"""Read the JSON of a request's body."""

import json
import math
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from accounts.problems import TooLarge


class JSONBody(BaseParser):
    """JSON of at most DATA_UPLOAD_MAX_MEMORY_SIZE bytes whose texts a database can store."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        content = stream.read(most + 1)
        if len(content) > most:
            raise TooLarge(f"The body is larger than {most // 1000:,} kB.")
        try:
            value = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse)
            _check(value)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deeply.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON in UTF-8: {error}") from error
        return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a value of JSON")


def _check(value: Any) -> None:
    """Raise ValueError for texts and numbers that no database stores."""
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError("a text has a character that cannot be stored")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number is too large")
    elif isinstance(value, dict | list):
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        for one in inside:
            _check(one)
