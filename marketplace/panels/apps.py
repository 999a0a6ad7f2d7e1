from django.apps import AppConfig


class PanelsConfig(AppConfig):
    name = "marketplace.panels"
    verbose_name = "Studies at panels"
