"""The variables of the environment: read once, checked together, and named if they are wrong."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from email.errors import MessageError
from email.headerregistry import Address
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

# Names of this machine in URLs.
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
# What Kubernetes sets in every container for a service that is called `marketplace`.
OF_A_SERVICE = re.compile(r"_(SERVICE_(HOST|PORT)|PORT)(_|$)")


def _split(value: Any) -> Any:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def _never(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "never" else value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def is_url(text: str, *schemes: str) -> bool:
    """Whether the text is a URL with a possible host and port."""
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and " " not in parts.netloc
        return parts.scheme in schemes and has_host and parts.port != 0
    except ValueError:
        return False


def web_address(text: str) -> str:
    """The address of a server; raises ValueError if it is not http or https."""
    if not is_url(text, "http", "https"):
        raise ValueError("it must be an address such as https://captions.example.org")
    return text


def site_address(text: str) -> str:
    """An address without a path, a last slash or a password, in small letters as in the headers of
    browsers; raises ValueError."""
    parts = urlsplit(web_address(text).rstrip("/"))
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(
            "it must be an address without a path, such as https://captions.example.org"
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _host(text: str) -> str:
    if "/" in text:
        raise ValueError("it must list names of hosts, without https:// and without a path")
    return text


def _database(text: str) -> str:
    try:
        engine = dj_database_url.parse(text)["ENGINE"]
    except ValueError:
        engine = ""
    if engine.rpartition(".")[2] not in {"sqlite3", "postgresql"}:
        raise ValueError("it must be sqlite:///PATH or postgres://USER:PASSWORD@HOST/NAME")
    return text


def _host_and_port(text: str) -> str:
    if not is_url(f"tcp://{text}", "tcp") or urlsplit(f"tcp://{text}").port is None:
        raise ValueError("it must be HOST:PORT, such as 127.0.0.1:9100")
    return text


def _sender(text: str) -> str:
    try:
        Address(addr_spec=parseaddr(text)[1])
    except (ValueError, IndexError, MessageError) as error:
        raise ValueError('it must be an address, such as "Image Lab" <lab@example.org>') from error
    return text


def _long(secret: str) -> str:
    if 0 < len(secret) < 32:
        raise ValueError(
            "it must have at least 32 characters: anybody who guesses it can sign in as somebody "
            "else"
        )
    return secret


def _in_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:  # there is no such user
        raise ValueError("it must be the path of a folder") from error


# Words with commas between them.
Words = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Hosts = Annotated[list[Annotated[str, AfterValidator(_host)]], NoDecode, BeforeValidator(_split)]
# A number of days, or None for `never`.
Days = Annotated[Annotated[int, Field(ge=1, le=36_500)] | None, BeforeValidator(_never)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Share = Annotated[Decimal, Field(ge=0, le=1)]
# Shared by two sites, which can then sign people in at each other; empty for none.
Secret = Annotated[str, AfterValidator(_long)]
# Of a site, without the last slash.
Url = Annotated[str, AfterValidator(site_address)]
Urls = Annotated[list[Url], NoDecode, BeforeValidator(_split)]
# Of another server, whose address may have a path.
ServerUrl = Annotated[str, AfterValidator(web_address)]
DatabaseUrl = Annotated[str, AfterValidator(_database)]
HostAndPort = Annotated[str, AfterValidator(_host_and_port)]
# A folder, also with ~ for the user's own one, which only shells know.
Folder = Annotated[Path, AfterValidator(_in_home)]


class BothSites(BaseSettings):
    """The variables of both sites' logs and mails; each site derives its own from this class.

    An empty value counts as none, because container tools pass variables that are not set.
    """

    model_config = SettingsConfigDict(
        env_ignore_empty=True, frozen=True, str_strip_whitespace=True, validate_default=False
    )
    # How names begin that no other program's variables have. One that is not a field is wrong,
    # except for these.
    prefixes: ClassVar[tuple[str, ...]] = ()
    no_settings: ClassVar[frozenset[str]] = frozenset()

    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(_upper)
    ] = "INFO"
    log_format: Literal["text", "json"] = "text"
    log_requests: bool = False
    sentry_dsn: ServerUrl = ""
    email_host: Annotated[str, AfterValidator(_host)] = ""
    email_port: int = Field(587, ge=1, le=65_535)
    email_host_user: str = ""
    email_host_password: str = ""
    email_use_tls: bool = True
    email_from: Annotated[str, AfterValidator(_sender)] = ""


Variables = TypeVar("Variables", bound=BothSites)


def read(variables: type[Variables]) -> Variables:
    """The variables of the environment; raises ImproperlyConfigured, with a line for each that is
    wrong or that no site has."""
    faults = _unknown(variables)
    try:
        values = variables()
    except ValidationError as error:
        faults += [
            f"{str(fault['loc'][0]).upper()}: {fault['msg'].removeprefix('Value error, ')}."
            for fault in error.errors()
        ]
    if faults:
        raise ImproperlyConfigured("\n".join(sorted(faults)))
    return values


def _unknown(variables: type[BothSites]) -> list[str]:
    """A sentence for each variable that seems to be meant for the site, but is none of its own."""
    names = {name.upper() for name in variables.model_fields}
    faults = []
    for name in {name.upper() for name in os.environ} - names - variables.no_settings:
        meant = next((candidate for candidate in sorted(names) if _is_almost(name, candidate)), "")
        if meant:
            faults.append(f"{name}: there is no such setting. Do you mean {meant}?")
        elif name.startswith(variables.prefixes) and not OF_A_SERVICE.search(name):
            faults.append(f"{name}: there is no such setting. docs/settings.md lists all.")
    return faults


def _is_almost(name: str, setting: str) -> bool:
    """Whether one letter is too many, missing or another one, or two have changed places."""
    start = len(os.path.commonprefix([name, setting]))
    name, setting = name[start:], setting[start:]
    end = len(os.path.commonprefix([name[::-1], setting[::-1]]))
    name, setting = name[: len(name) - end], setting[: len(setting) - end]
    return max(len(name), len(setting)) <= 1 or (len(name) == 2 and name == setting[::-1])


@contextmanager
def settings_in_words() -> Iterator[None]:
    """End the process with the message alone, without a traceback, if a setting is wrong."""
    try:
        yield
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        # With this status, gunicorn stops. With others, it starts its worker again and again.
        sys.exit(3)
