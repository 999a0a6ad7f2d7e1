"""The variables of the environment that the marketplace reads (docs/settings.md)."""

from decimal import Decimal
from typing import ClassVar

from pydantic import Field

from shared.environment import (
    BothSites,
    DatabaseUrl,
    Days,
    Hosts,
    Seconds,
    Secret,
    ServerUrl,
    Share,
    Url,
    Words,
)


class Environment(BothSites):
    """Each field is a variable; its type and limits are checked at the start."""

    prefixes: ClassVar[tuple[str, ...]] = ("EMAIL_", "HAND_OVER_", "MARKETPLACE_", "PROLIFIC_")
    # `marketplace_run` sets it for the program that it runs.
    no_settings: ClassVar[frozenset[str]] = frozenset({"MARKETPLACE_REDIRECT_URL"})

    # The site
    marketplace_url: Url = "http://127.0.0.1:8001"
    marketplace_frame_url: Url = ""
    marketplace_debug: bool = False
    marketplace_allowed_hosts: Hosts = []
    marketplace_http_hosts: Words = []
    marketplace_behind_proxy: bool = False
    marketplace_secret_key: str = ""
    marketplace_secret_key_fallbacks: Words = []
    marketplace_database_url: DatabaseUrl = ""
    marketplace_sweep_seconds: Seconds = 1
    marketplace_threads: int = Field(16, ge=1)
    marketplace_activity_days: int = Field(365, ge=1, le=36_500)
    marketplace_panel_id_days: Days = 365
    marketplace_test_hooks: bool = False
    marketplace_metrics_token: str = ""
    # Operators who are signed in at the requester site
    site_url: Url = "http://127.0.0.1:8000"
    hand_over_secret: Secret = ""
    hand_over_operators: bool = False
    # Workers
    marketplace_sign_up: bool = False
    marketplace_sso_secret: Secret = ""
    # Notifications
    marketplace_notification_endpoint: ServerUrl = ""
    marketplace_notification_destinations: Words = []
    marketplace_notification_access_key_id: str = ""
    marketplace_notification_secret_access_key: str = ""
    # Prolific
    prolific_api_token: str = ""
    prolific_api_url: Url = "https://api.prolific.com"
    prolific_return_url: ServerUrl = "https://app.prolific.com/submissions/complete"
    prolific_workspace: str = ""
    prolific_project: str = ""
    prolific_hook_secret: str = ""
    prolific_service_fee: Share = Decimal("0.3333")
    prolific_vat: Share = Decimal("0")
    prolific_seconds: Seconds = 60
