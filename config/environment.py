"""The variables of the environment that the requester site reads (docs/settings.md)."""

from decimal import Decimal
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from shared.environment import (
    LOOPBACK_HOSTS,
    BothSites,
    DatabaseUrl,
    Days,
    Folder,
    HostAndPort,
    Hosts,
    Seconds,
    Secret,
    ServerUrl,
    Share,
    Url,
    Urls,
    Words,
    web_address,
)
from shared.secret_key import advice

BROKERS = ("redis", "rediss", "sentinel", "amqp", "amqps")


def _endpoint(text: str) -> str:
    if text in {"local", "sandbox", "production"}:
        return text
    try:
        return web_address(text)
    except ValueError as error:
        raise ValueError("it must be local, sandbox, production, or an http(s) address") from error


def _broker(url: str) -> str:
    if urlsplit(url).scheme not in BROKERS:
        raise ValueError(f"it must be the address of a broker, such as {BROKERS[0]}://HOST:6379/0")
    return url


def _bucket(address: str) -> str:
    if not address.removeprefix("s3://").partition("/")[0] or not address.startswith("s3://"):
        raise ValueError("it must be s3://BUCKET or s3://BUCKET/FOLDER")
    return address


class Environment(BothSites):
    """Each field is a variable; its type and limits are checked at the start."""

    prefixes: ClassVar[tuple[str, ...]] = ("EMAIL_", "METRICS_", "MTURK_", "SYNC_", "UPLOAD_")

    # The site
    site_url: Url = "http://127.0.0.1:8000"
    debug: bool = False
    allowed_hosts: Hosts = []
    behind_proxy: bool = False
    secret_key: str = Field("", validate_default=True)
    secret_key_fallbacks: Words = []
    database_url: DatabaseUrl = ""
    sync_seconds: Seconds = 60
    celery_broker_url: Annotated[str, AfterValidator(_broker)] = ""
    job_lease_seconds: float = Field(40, ge=5, le=3600)  # a lease is renewed every 2 seconds
    worker_data_days: Days = 365
    private_networks: bool = False
    metrics_token: str = ""
    metrics_address: HostAndPort = ""
    api_reads_per_minute: int = Field(600, ge=0)
    # Files
    media_root: Folder | None = None
    upload_max_mb: int = Field(1000, ge=1)
    images_folder: Folder | None = None
    s3_endpoint_url: ServerUrl = ""
    s3_access_key_id: str = ""
    s3_secret_access_key: str = ""
    copies_bucket: Annotated[str, AfterValidator(_bucket)] = ""
    # The marketplace
    mturk_endpoint: Annotated[str, AfterValidator(_endpoint)] = "local"
    marketplace_url: Url = "http://127.0.0.1:8001"
    hand_over_secret: Secret = ""
    mturk_worker_origins: Urls = []
    mturk_read_timeout: Seconds = 30
    mturk_calls_per_second: float = Field(0, ge=0)
    mturk_read_wait_seconds: float = Field(0, ge=0, le=86_400)
    mturk_list_seconds: float | None = Field(None, ge=0, le=86_400)
    mturk_notification_queue_url: ServerUrl = ""
    mturk_sqs_access_key_id: str = ""
    mturk_sqs_secret_access_key: str = ""
    prolific_service_fee: Share = Decimal("0.3333")
    prolific_vat: Share = Decimal("0")
    # Evaluation
    spice_models: Folder | None = None
    submitters_may_sign_up: bool = False
    scores_at_once: int = Field(1, ge=1)

    @field_validator("secret_key")
    @classmethod
    def _public_site_has_a_key(cls, key: str, info: ValidationInfo) -> str:
        address = info.data.get("site_url", "")
        if not key and address and urlsplit(address).hostname not in LOOPBACK_HOSTS:
            raise ValueError(f"it is not set, and SITE_URL is {address}. {advice('SECRET_KEY')}")
        return key

    @field_validator("copies_bucket")
    @classmethod
    def _bucket_has_keys(cls, bucket: str, info: ValidationInfo) -> str:
        # Without keys, the requester's keys in AWS_ACCESS_KEY_ID would be sent to the bucket.
        if bucket and not (info.data["s3_access_key_id"] and info.data["s3_secret_access_key"]):
            raise ValueError("COPIES_BUCKET needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
        return bucket
