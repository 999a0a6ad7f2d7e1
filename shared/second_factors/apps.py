from django.apps import AppConfig


class SecondFactorsConfig(AppConfig):
    name = "shared.second_factors"
