"""What an operator fills in."""

from decimal import Decimal

from django import forms
from django.contrib.auth import authenticate

from marketplace.services.operators import MOST_MONEY


class SignInForm(forms.Form):
    name = forms.CharField(max_length=150)
    password = forms.CharField(max_length=200, widget=forms.PasswordInput)

    def operator(self):
        """The operator of that name and password, or None."""
        found = authenticate(
            username=self.cleaned_data["name"], password=self.cleaned_data["password"]
        )
        return found if found is not None and found.is_staff else None


class MoneyForm(forms.Form):
    amount = forms.DecimalField(
        label="Dollars", min_value=Decimal("0.01"), max_value=MOST_MONEY, decimal_places=2
    )


class RequesterForm(forms.Form):
    name = forms.CharField(max_length=100)
    balance = forms.DecimalField(
        label="Balance in dollars", min_value=Decimal(0), max_value=MOST_MONEY, decimal_places=2
    )


class WorkerForm(forms.Form):
    country = forms.RegexField(
        "^[A-Za-z]{2}$",
        label="Country, two letters",
        required=False,
        error_messages={"invalid": "Two letters, such as US."},
    )
    approved = forms.IntegerField(label="Approved HITs", min_value=0, max_value=10**8)
    rejected = forms.IntegerField(label="Rejected HITs", min_value=0, max_value=10**8)
