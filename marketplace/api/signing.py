"""Verify Signature Version 4 with botocore's signer and the requester's secret key, and limit each
requester's calls per second, if configured."""

import hashlib
import hmac
import re
from collections.abc import Set
from datetime import UTC, datetime

from botocore.auth import SIGV4_TIMESTAMP, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from marketplace.api.errors import NotAuthorized, Throttled
from marketplace.models import CallAllowance, Requester

SERVICE = "mturk-requester"
MUST_BE_SIGNED = {"host", "x-amz-date", "x-amz-target"}
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<key>[A-Za-z0-9]+)/(?P<date>\d{8})/(?P<region>[^/,]+)/"
    r"(?P<service>[^/,]+)/aws4_request, *SignedHeaders=(?P<headers>[a-z0-9;-]+), *"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


def authenticate(
    request: HttpRequest, *, at: datetime, signed: Set[str] = MUST_BE_SIGNED
) -> Requester:
    """The requester who signed the request and these of its headers; raises NotAuthorized."""
    header = request.headers.get("Authorization", "")
    if not header:
        raise NotAuthorized("MissingAuthenticationTokenException", "Missing Authentication Token")
    parts = _AUTHORIZATION.fullmatch(header.strip())
    if parts is None:
        raise NotAuthorized(
            "IncompleteSignatureException",
            "The Authorization header is not a Signature Version 4 signature.",
        )
    _check_scope(request, parts, at, signed)
    requester = Requester.objects.filter(access_key=parts["key"]).first()
    if requester is None:
        raise NotAuthorized(
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
        )
    expected = _signature(request, parts, requester)
    if not hmac.compare_digest(expected, parts["signature"]):
        raise NotAuthorized(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. Check "
            "your AWS Secret Access Key and signing method.",
        )
    return requester


def _check_scope(
    request: HttpRequest, parts: re.Match[str], at: datetime, signed: Set[str]
) -> None:
    if parts["service"] != SERVICE:
        raise NotAuthorized(
            "InvalidSignatureException", f"The credential must be scoped to {SERVICE}."
        )
    missing = signed - set(parts["headers"].split(";"))
    if missing:
        raise NotAuthorized(
            "IncompleteSignatureException", f"Not signed: {', '.join(sorted(missing))}."
        )
    try:
        signed_at = datetime.strptime(request.headers["X-Amz-Date"], SIGV4_TIMESTAMP)
    except (KeyError, ValueError) as error:
        raise NotAuthorized(
            "IncompleteSignatureException", "The X-Amz-Date header is missing or no date."
        ) from error
    if f"{signed_at:%Y%m%d}" != parts["date"]:
        raise NotAuthorized(
            "InvalidSignatureException", "The credential's date is not the date of X-Amz-Date."
        )
    if abs(at - signed_at.replace(tzinfo=UTC)) > settings.SIGNATURE_AGE:
        raise NotAuthorized(
            "InvalidSignatureException",
            f"Signature expired: it was made at {request.headers['X-Amz-Date']}, and it is now "
            f"{at:%Y%m%dT%H%M%SZ}.",
        )


def _signature(request: HttpRequest, parts: re.Match[str], requester: Requester) -> str:
    signed = AWSRequest(
        method=request.method,
        # The signature does not cover the scheme, which a TLS proxy changes.
        url=f"http://{request.headers['Host']}{request.get_full_path()}",
        data=request.body,
        headers={name: request.headers.get(name, "") for name in parts["headers"].split(";")},
    )
    claimed = signed.headers.get("X-Amz-Content-SHA256")
    if claimed is not None and claimed != hashlib.sha256(request.body).hexdigest():
        raise NotAuthorized(
            "InvalidSignatureException", "X-Amz-Content-SHA256 is not the hash of the body."
        )
    signed.context["timestamp"] = request.headers["X-Amz-Date"]
    credentials = Credentials(requester.access_key, requester.secret_key)
    signer = SigV4Auth(credentials, SERVICE, parts["region"])
    return signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)


def count_call(requester: Requester, *, at: datetime) -> None:
    """Count a call; raises Throttled above the limit. One second's calls may come at once."""
    rate = settings.MTURK_CALLS_PER_SECOND
    if rate and not _take(requester, rate, at):
        raise Throttled("Rate exceeded")


@transaction.atomic
def _take(requester: Requester, rate: float, at: datetime) -> bool:
    most = max(rate, 1)
    CallAllowance.objects.get_or_create(
        requester=requester, defaults={"remaining": most, "counted_at": at}
    )
    allowance = CallAllowance.objects.select_for_update().get(requester=requester)
    # Clocks of several machines may differ a little.
    passed = max((at - allowance.counted_at).total_seconds(), 0)
    remaining = min(most, allowance.remaining + passed * rate)
    is_allowed = remaining >= 1
    CallAllowance.objects.filter(pk=allowance.pk).update(
        remaining=remaining - 1 if is_allowed else remaining,
        counted_at=max(at, allowance.counted_at),
    )
    return is_allowed
