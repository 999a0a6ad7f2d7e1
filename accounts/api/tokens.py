"""API endpoint that issues and withdraws tokens."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import authenticate
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.access import ApiTokenAuthentication
from accounts.api.handlers import JSONBody
from accounts.api.strict import APIView, validated
from accounts.models import ApiToken, Scope
from accounts.services.api_tokens import MOST_DAYS, issue_token, withdraw_token


class CredentialsSerializer(serializers.Serializer[Any]):
    """A name and password, and the name, lifetime and scopes of the new token."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(trim_whitespace=False, max_length=4096)
    code = serializers.CharField(
        max_length=40,
        default="",
        allow_blank=True,
        help_text="code of the account's authenticator app, if it has one",
    )
    name = serializers.CharField(
        max_length=100, default="", allow_blank=True, help_text="what the token is for"
    )
    days = serializers.IntegerField(
        min_value=1, max_value=MOST_DAYS, required=False, help_text="lifetime in days"
    )
    # A list, because a form that leaves out the choices of a MultipleChoiceField chooses none.
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices),
        required=False,
        help_text="what the token may do besides reading (default: everything)",
    )


class IssuedTokenSerializer(serializers.Serializer[Any]):
    """A new token's text, which is shown only once, its expiry and its scopes."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices))


class TokenView(APIView):
    """POST issues a token for a name and password; DELETE withdraws the request's token."""

    # Forms too, as curl sends them: a person types this request.
    parser_classes = [JSONBody, FormParser, MultiPartParser]

    def get_authenticators(self) -> list[BaseAuthentication]:
        # Session authentication is off: a session must not be enough to get a token.
        return [] if self._is_sign_in() else [ApiTokenAuthentication()]

    def get_permissions(self) -> Sequence[Any]:
        return [AllowAny()] if self._is_sign_in() else [IsAuthenticated()]

    def _is_sign_in(self) -> bool:
        return self.request is not None and self.request.method == "POST"

    @extend_schema(
        operation_id="token_create",
        request={"application/json": CredentialsSerializer},
        responses=IssuedTokenSerializer,
    )
    def post(self, request: Request) -> Response:
        """Issue a token for the account with this name and password."""
        given = validated(CredentialsSerializer, request)
        # django-axes stores on Django's request, not on DRF's, that sign-in is locked.
        user = authenticate(
            request._request,
            username=given["username"],
            password=given["password"],
            code=given["code"],
        )
        if user is None:
            raise serializers.ValidationError(
                {"non_field_errors": ["Name, password or code is wrong."]}
            )
        token, text = issue_token(
            user=user,
            name=given["name"],
            days=given.get("days"),
            scopes=given.get("scopes", Scope.values),
            at=timezone.now(),
        )
        issued = {"token": text, "expires_at": token.expires_at, "scopes": token.scopes}
        return Response(IssuedTokenSerializer(issued).data, headers={"Cache-Control": "no-store"})

    @extend_schema(operation_id="token_withdraw", request=None, responses={204: None})
    def delete(self, request: Request) -> Response:
        """Withdraw the token of this request."""
        assert isinstance(request.auth, ApiToken)
        withdraw_token(token=request.auth, at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)
