"""Parse TOML from outside."""

import re
import tomllib
from typing import Any

from corpora.reading.files import MalformedFile
from corpora.reading.json_files import unstorable

AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


def parse_toml(name: str, text: str) -> dict[str, Any]:
    """The values of a TOML document; raises MalformedFile."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = AT_LINE.search(str(error))
        line = int(match[1]) if match else None
        raise MalformedFile(name, f"not TOML: {AT_LINE.sub('', str(error))}", line) from error
    except RecursionError as error:
        raise MalformedFile(name, "the TOML is nested too deeply") from error
    except ValueError as error:
        raise MalformedFile(name, "a number or a date is out of range") from error
    if reason := unstorable(values):
        raise MalformedFile(name, f"a text in it {reason}")
    return values
