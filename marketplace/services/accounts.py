"""Create workers' accounts, authenticate workers, change their profiles and passwords, and limit
attempts per account and address."""

import unicodedata
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from marketplace import ids
from marketplace.errors import AccountRefused, LinkRefused, SignInRefused, TooManyAttempts
from marketplace.models import Attempt, ExternalIdentity, Invitation, UsedLink, Worker
from shared.countries import Place, read_place

# `source` of the identities from signed links of another site.
SSO_SOURCE = "sso"
LONGEST_NAME = 100
# A double click sends the form of a new account again within this time.
SENT_AGAIN_WITHIN = timedelta(minutes=1)
# Scripts with letters that look like Latin ones, by the first word of their letters' names.
ALIKE = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL"}
LONGEST_IDENTIFIER = 200
MOST_INVITATION_DAYS = 3650
MOST_INVITATION_USES = 1_000_000


def sign_up(
    *,
    name: str,
    password: str,
    country: str,
    address: str,
    at: datetime,
    invitation_id: int | None = None,
) -> Worker:
    """Create an account with a password, by the invitation if one is given.

    A form that is sent twice makes one account, and each time returns it. Raises AccountRefused,
    LinkRefused and TooManyAttempts.
    """
    # In its own transaction, so that a refused attempt still counts.
    count_new_account(address=address, at=at)
    try:
        with transaction.atomic():
            if invitation_id is not None:
                good = Invitation.objects.good_at(at).filter(pk=invitation_id)
                if not good.update(uses_left=F("uses_left") - 1):
                    check_invitation(invitation_id=invitation_id, at=at)
            return make_account(name=name, password=password, country=country, at=at)
    except (AccountRefused, LinkRefused):
        if made := _made_just_now(name=name, password=password, at=at):
            return made
        raise


def count_new_account(*, address: str, at: datetime) -> None:
    """Count a new account from this address; raises TooManyAttempts."""
    count_attempt(what="new account", who=address, most=settings.NEW_ACCOUNTS_PER_ADDRESS, at=at)


def make_account(
    *, name: str, password: str, country: str = "", at: datetime, is_member: bool = False
) -> Worker:
    """Create an account; raises AccountRefused. A member of a group may have no password, and signs
    in by links then."""
    worker = Worker(
        name=_name(name), **_place(country)._asdict(), is_member=is_member, created_at=at
    )
    if password or not is_member:
        worker.password = _password_hash(password, worker)
    try:
        with transaction.atomic():
            worker.save(force_insert=True)
    except IntegrityError as error:
        raise AccountRefused(
            _(
                "This name is already in use. If it is yours, sign in, or ask the person who sent "
                "you the link for one that signs you in. Otherwise, choose another name."
            ),
            field="name",
        ) from error
    return worker


def _made_just_now(*, name: str, password: str, at: datetime) -> Worker | None:
    """The account that the same form has made a moment ago."""
    name = normal_name(name)
    if not name.isprintable():
        return None
    recent = Worker.objects.filter(name=name, is_member=False)
    made = recent.filter(created_at__gt=at - SENT_AGAIN_WITHIN).first()
    return made if made and _is_password_of(made, password) else None


def invite(*, uses: int, expires_at: datetime, at: datetime) -> Invitation:
    return Invitation.objects.create(uses_left=uses, expires_at=expires_at, created_at=at)


def end_invitation(*, invitation_id: int, at: datetime) -> None:
    Invitation.objects.good_at(at).filter(pk=invitation_id).update(expires_at=at)


def check_invitation(*, invitation_id: int, at: datetime) -> None:
    """Raise LinkRefused if the invitation is used up or has expired."""
    if not Invitation.objects.good_at(at).filter(pk=invitation_id).exists():
        raise LinkRefused(
            "This invitation is used up or has expired. Ask the person who sent it for a new one."
        )


def authenticate(*, name: str, password: str, address: str, at: datetime) -> Worker:
    """Return the worker with this name and password; raises SignInRefused, TooManyAttempts."""
    name = normal_name(name)
    count_attempt(what="sign-in from", who=address, most=settings.ATTEMPTS_PER_ADDRESS, at=at)
    count_attempt(what="sign-in as", who=name, most=settings.ATTEMPTS_PER_ACCOUNT, at=at)
    # Names are always printable, and PostgreSQL refuses a NUL in a query.
    workers = Worker.objects.filter(name=name) if name.isprintable() else Worker.objects.none()
    worker = workers.exclude(password="").first()
    if worker is None:
        # Hash anyway: a faster response would reveal that the name does not exist.
        make_password(password)
    if worker is None or not _is_password_of(worker, password):
        raise SignInRefused("Wrong name or password.")
    forget_attempts(what="sign-in as", who=name)
    return worker


def _is_password_of(worker: Worker, password: str) -> bool:
    def upgrade(raw: str) -> None:
        unchanged = Worker.objects.filter(pk=worker.pk, password=worker.password)
        unchanged.update(password=make_password(raw))

    return check_password(password, worker.password, setter=upgrade)


def worker_of_identity(
    *, source: str, identifier: str, country: str, address: str, at: datetime
) -> Worker:
    """Return the worker with this id at another site, creating the account if necessary.

    Raises AccountRefused if the id or country is invalid, and TooManyAttempts.
    """
    identifier = clean_identifier(identifier)
    identities = ExternalIdentity.objects.filter(source=source, identifier=identifier)
    identity = identities.select_related("worker").first()
    if identity is None:
        count_new_account(address=address, at=at)
        try:
            with transaction.atomic():
                worker = Worker.objects.create(
                    name=f"guest {ids.entity_id()}", **_place(country)._asdict(), created_at=at
                )
                return ExternalIdentity.objects.create(
                    source=source, identifier=identifier, worker=worker
                ).worker
        except IntegrityError:
            # A concurrent request, such as a double click, has created the account.
            identity = identities.select_related("worker").get()
    return identity.worker


def clean_identifier(identifier: str) -> str:
    """The other site's id as it is stored; raises AccountRefused if it is invalid."""
    identifier = identifier.strip()
    if not 0 < len(identifier) <= LONGEST_IDENTIFIER or not identifier.isprintable():
        raise AccountRefused(
            _("The address does not contain a valid id. Follow the panel's link again.")
        )
    return identifier


def state_country(*, worker: Worker, country: str) -> None:
    """Set the worker's country; raises AccountRefused if it is set already or unknown.

    HITs can be limited to countries, so workers cannot change their country themselves.
    """
    place = _place(country)
    if not Worker.objects.filter(pk=worker.pk, country="", erased_at=None).update(
        **place._asdict()
    ):
        raise AccountRefused(
            "Your country is already saved. Ask the marketplace's host to change it.",
            field="country",
        )


def set_adult(*, worker: Worker, is_adult: bool) -> None:
    """Set whether the worker is an adult and accepts HITs with adult content."""
    Worker.objects.filter(pk=worker.pk, erased_at=None).update(is_adult=is_adult)


def set_password(*, worker: Worker, current: str, password: str, at: datetime) -> Worker:
    """Set or change the password and end all sessions; raises AccountRefused."""
    if worker.password:
        count_attempt(what="sign-in as", who=worker.name, most=settings.ATTEMPTS_PER_ACCOUNT, at=at)
    hashed = _password_hash(password, worker)
    with transaction.atomic():
        # Check under the lock: another session may have changed the password.
        locked = Worker.objects.select_for_update().get(pk=worker.pk)
        if locked.erased_at is not None:
            raise AccountRefused(_("This account has just been deleted. Follow the link again."))
        if locked.password and not check_password(current, locked.password):
            raise AccountRefused(_("This is not your current password."), field="current")
        Worker.objects.filter(pk=worker.pk).update(password=hashed)
        return end_all_sessions(worker=worker)


def end_all_sessions(*, worker: Worker) -> Worker:
    """End all of the worker's sessions and invalidate earlier sign-in links."""
    Worker.objects.filter(pk=worker.pk).update(sign_in_number=F("sign_in_number") + 1)
    worker.refresh_from_db()
    return worker


def normal_name(name: str) -> str:
    """The name as it is stored. Devices send one letter as different characters: macOS an "é" as
    an "e" and an accent."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def _name(name: str) -> str:
    name = normal_name(name)
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        text = _("Enter a name of 1 to {most} characters.").format(most=LONGEST_NAME)
        raise AccountRefused(text, field="name")
    if any(len(_scripts_in(word)) > 1 for word in name.split()):
        raise AccountRefused("Write each word of the name in letters of one script.", field="name")
    return name


def _scripts_in(word: str) -> set[str]:
    """The scripts of the word's letters, of those that have letters that look alike."""
    return ALIKE.intersection(
        unicodedata.name(letter, "nameless").split()[0] for letter in word if letter.isalpha()
    )


def _place(text: str) -> Place:
    message = (
        "Enter the two letters of a country, such as US or NL, with a state if you like, "
        "as in US-PA."
    )
    try:
        return read_place(text)
    except ValueError as error:
        raise AccountRefused(message, field="country") from error


def _password_hash(password: str, worker: Worker) -> str:
    try:
        # The validators only need an object with the attributes that they compare.
        validate_password(password, user=worker)  # type: ignore[arg-type]
    except ValidationError as error:
        text = " ".join(map(_password_problem, error.error_list))
        raise AccountRefused(text, field="password") from error
    return make_password(password)


def _password_problem(error: ValidationError) -> str:
    # Django's sentence is not translated into all languages of the pages.
    if error.code == "password_too_short":
        text = _("This password is too short. It must contain at least {least} characters.")
        return text.format(least=(error.params or {})["min_length"])
    return " ".join(error.messages)


_SALT = "marketplace.attempts"


def count_attempt(*, what: str, who: str, most: int, at: datetime) -> Attempt:
    """Record an attempt and return it; raises TooManyAttempts if it is above the limit.

    An attempt is recorded before counting, so that concurrent attempts count each other. Attempts
    above the limit are not recorded: further attempts neither fill the table nor prolong the wait.
    """
    key = _key(what, who)
    within = settings.ATTEMPTS_WITHIN
    # Later ones are of a clock that was ahead.
    recent = Attempt.objects.filter(key=key, made_at__gt=at - within, made_at__lt=at + within)
    if recent.count() < most:
        attempt = Attempt.objects.create(key=key, made_at=at)
        if recent.count() <= most:
            return attempt
    raise TooManyAttempts(_("Too many attempts. Wait 15 minutes, then try again."))


def forget_attempts(*, what: str, who: str) -> None:
    """Reset the count after a success."""
    Attempt.objects.filter(key=_key(what, who)).delete()


def _key(what: str, who: str) -> str:
    return salted_hmac(_SALT, f"{what}:{who}", algorithm="sha256").hexdigest()


def use_link(*, signature: str, expires_at: datetime) -> None:
    """Record the link as used; raises LinkRefused if it was used before."""
    try:
        with transaction.atomic():
            UsedLink.objects.create(signature=signature, expires_at=expires_at)
    except IntegrityError as error:
        raise LinkRefused(
            "This link has already been used. Go back and follow a new one."
        ) from error
