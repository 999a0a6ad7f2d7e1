from django.apps import AppConfig
from django.core.checks import Tags, register

from annotate.site.checks import check_proxy


class AnnotateConfig(AppConfig):
    name = "annotate"
    verbose_name = "Images, campaigns and captions"

    def ready(self) -> None:
        register(check_proxy, Tags.security, deploy=True)
