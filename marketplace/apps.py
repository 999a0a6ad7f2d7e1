from django.apps import AppConfig
from django.core.checks import Tags, register

from marketplace.checks import check_proxy


class MarketplaceConfig(AppConfig):
    name = "marketplace"
    verbose_name = "Marketplace"

    def ready(self) -> None:
        register(check_proxy, Tags.security, deploy=True)
