"""The field for the name of a new account."""

from django import forms
from django.contrib.auth.validators import ASCIIUsernameValidator


def user_name_field() -> forms.CharField:
    """Only ASCII letters: those of other scripts look like them, so that a name could pass for
    another person's."""
    return forms.CharField(
        max_length=150,
        label="User name",
        validators=[ASCIIUsernameValidator()],
        widget=forms.TextInput(attrs={"autocomplete": "username"}),
    )
