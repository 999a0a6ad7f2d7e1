"""Read environment variables for settings."""

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

# Names of this machine in URLs.
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
CONFIG = SettingsConfigDict(env_ignore_empty=True, frozen=True, str_strip_whitespace=True)
Variables = TypeVar("Variables", bound=BaseSettings)


def _split(value: Any) -> Any:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def _never(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "never" else value


# Words with commas between them.
Words = Annotated[list[str], NoDecode, BeforeValidator(_split)]
# A number of days, or None for `never`.
Days = Annotated[Annotated[int, Field(ge=1, le=36_500)] | None, BeforeValidator(_never)]
Share = Annotated[Decimal, Field(ge=0, le=1)]


def _long(secret: str) -> str:
    if 0 < len(secret) < 32:
        raise ValueError(
            "it must have at least 32 characters: anybody who guesses it can sign in as somebody "
            "else"
        )
    return secret


# Shared by two sites, which can then sign people in at each other; empty for none.
Secret = Annotated[str, AfterValidator(_long)]
# Without the last slash.
Url = Annotated[str, AfterValidator(lambda url: url.rstrip("/"))]


def read(variables: type[Variables]) -> Variables:
    """The variables of the environment; raises ImproperlyConfigured, which names those that are
    wrong."""
    try:
        return variables()
    except ValidationError as error:
        faults = [
            f"{str(fault['loc'][0]).upper()}: {fault['msg'].removeprefix('Value error, ')}."
            for fault in error.errors()
        ]
        raise ImproperlyConfigured(" ".join(faults)) from error


class BothSites(BaseSettings):
    """The variables of both sites' logs, and of gunicorn."""

    model_config = CONFIG

    log_level: str = "INFO"
    log_format: Literal["text", "json"] = "text"
    log_requests: bool = False
    web_processes: int = Field(0, ge=0)
    web_threads: int = Field(8, ge=1)
