"""The variables of the environment that the marketplace reads (docs/operator.md describes them).

An empty value counts as none, because container tools pass variables that are not set.
"""

from decimal import Decimal

from pydantic import Field
from pydantic_settings import BaseSettings

from shared.environment import CONFIG, Days, Secret, Share, Url, Words


class Environment(BaseSettings):
    """Each field is a variable; its type and limits are checked at the start."""

    model_config = CONFIG

    # The site
    marketplace_url: Url = "http://127.0.0.1:8001"
    marketplace_frame_url: Url = ""
    marketplace_debug: bool = False
    marketplace_allowed_hosts: Words = []
    marketplace_http_hosts: Words = []
    marketplace_behind_proxy: bool = False
    marketplace_secret_key: str = ""
    marketplace_database_url: str = ""
    marketplace_sweep_seconds: float = Field(1, gt=0)
    marketplace_threads: int = Field(16, ge=1)
    marketplace_activity_days: int = Field(365, ge=1, le=36_500)
    marketplace_panel_id_days: Days = 365
    marketplace_test_hooks: bool = False
    marketplace_metrics_token: str = ""
    sentry_dsn: str = ""
    # Operators who are signed in at the requester site
    site_url: Url = "http://127.0.0.1:8000"
    hand_over_secret: Secret = ""
    hand_over_operators: bool = False
    # Workers
    marketplace_sign_up: bool = False
    marketplace_sso_secret: Secret = ""
    email_host: str = ""
    email_port: int = Field(587, ge=1, le=65_535)
    email_host_user: str = ""
    email_host_password: str = ""
    email_use_tls: bool = True
    email_from: str = ""
    # Notifications
    marketplace_notification_endpoint: str = ""
    marketplace_notification_destinations: Words = []
    marketplace_notification_access_key_id: str = ""
    marketplace_notification_secret_access_key: str = ""
    # Prolific
    prolific_api_token: str = ""
    prolific_api_url: Url = "https://api.prolific.com"
    prolific_return_url: str = "https://app.prolific.com/submissions/complete"
    prolific_workspace: str = ""
    prolific_project: str = ""
    prolific_hook_secret: str = ""
    prolific_service_fee: Share = Decimal("0.3333")
    prolific_vat: Share = Decimal("0")
    prolific_seconds: float = Field(60, gt=0)
