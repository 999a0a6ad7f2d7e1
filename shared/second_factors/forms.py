"""The fields in which people enter codes."""

from django import forms

ONE_TIME = {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}


class CodeForm(forms.Form):
    """A code of the app."""

    code = forms.CharField(max_length=40, widget=forms.TextInput(attrs=ONE_TIME))


class SignInCodeForm(forms.Form):
    """The last field of a site's sign-in form."""

    code = forms.CharField(
        required=False,
        max_length=40,
        label="Code of your authenticator app",
        help_text="Only if you have set one up. A recovery code works once in its place.",
        widget=forms.TextInput(attrs=ONE_TIME),
    )
