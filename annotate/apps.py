from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"
    verbose_name = "Images, campaigns and captions"

    def ready(self) -> None:
        from annotate import checks  # noqa: F401
