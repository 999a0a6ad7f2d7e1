"""Authentication of API requests."""

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.models import ApiToken
from accounts.services.api_tokens import TokenRefused, use_token


class ApiTokenAuthentication(TokenAuthentication):
    """Accepts `Authorization: Token …` with a valid ApiToken, which becomes `request.auth`."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        try:
            token = use_token(text=key, at=timezone.now())
        except TokenRefused as error:
            raise AuthenticationFailed(str(error)) from error
        return token.user, token
