"""Accounts in Django's admin."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import User


class AccountForm(UserChangeForm):  # type: ignore[type-arg]  # It is generic in the stubs only.
    """Refuses names that differ from another account's only in case, as Django's form of a new
    account does."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.exclude(pk=self.instance.pk).filter(username__iexact=name).exists():
            raise self.instance.unique_error_message(User, ["username"])
        return name


admin.site.unregister(User)


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    form = AccountForm
