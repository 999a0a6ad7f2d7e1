"""The variables of the environment that the requester site reads (docs/operator.md describes them).

An empty value counts as none, because container tools pass variables that are not set.
"""

from decimal import Decimal
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings

from shared.environment import CONFIG, Days, Secret, Share, Url, Words


class Environment(BaseSettings):
    """Each field is a variable; its type and limits are checked at the start."""

    model_config = CONFIG

    # The site
    site_url: Url = "http://127.0.0.1:8000"
    debug: bool = False
    allowed_hosts: Words = []
    behind_proxy: bool = False
    secret_key: str = ""
    secret_key_fallbacks: Words = []
    database_url: str = ""
    sync_seconds: float = Field(60, gt=0)
    celery_broker_url: str = ""
    job_lease_seconds: float = Field(40, ge=5)  # a lease is renewed every 2 seconds
    worker_data_days: Days = 365
    private_networks: bool = False
    sentry_dsn: str = ""
    metrics_token: str = ""
    metrics_address: str = ""
    api_token_days: int = Field(90, ge=1, le=3650)
    api_reads_per_minute: int = Field(600, ge=0)
    api_writes_per_minute: int = Field(120, ge=0)
    # Files
    media_root: Path | None = None
    upload_root: Path | None = None
    upload_max_mb: int = Field(1000, ge=1)
    images_folder: str = ""
    s3_endpoint_url: str = ""
    s3_region: str = "us-east-1"
    s3_access_key_id: str = ""
    s3_secret_access_key: str = ""
    copies_bucket: str = ""
    # E-mail
    email_host: str = ""
    email_port: int = Field(587, ge=1, le=65_535)
    email_host_user: str = ""
    email_host_password: str = ""
    email_use_tls: bool = True
    email_from: str = ""
    # The marketplace
    mturk_endpoint: str = "local"
    marketplace_url: Url = "http://127.0.0.1:8001"
    hand_over_secret: Secret = ""
    mturk_worker_origins: Words = []
    mturk_max_attempts: int = Field(8, ge=1)
    mturk_read_timeout: float = Field(30, gt=0)  # seconds
    mturk_calls_per_second: float = Field(0, ge=0)
    mturk_read_wait_seconds: float = Field(0, ge=0)
    mturk_list_seconds: float = Field(0, ge=0)
    mturk_poll_seconds: float = Field(600, ge=0)
    mturk_notification_queue_url: str = ""
    mturk_sqs_endpoint_url: str = ""
    mturk_sqs_access_key_id: str = ""
    mturk_sqs_secret_access_key: str = ""
    prolific_service_fee: Share = Decimal("0.3333")
    prolific_vat: Share = Decimal("0")
    # Evaluation
    java: str = "java"
    spice_models: Path | None = None
    submitters_may_sign_up: bool = False
    scores_at_once: int = Field(1, ge=1)
