from django.apps import AppConfig


class QualcontrolConfig(AppConfig):
    name = "qualcontrol"
    verbose_name = "Quality control"
