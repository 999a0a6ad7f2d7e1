"""URLs of the operator's pages, all under /operator/."""

from django.conf import settings
from django.urls import path

from marketplace.extensions import extensions
from marketplace.operator import account, invitations, people, records, workers
from marketplace.operator.base import operator_page
from marketplace.pages.decorators import get_or_post
from shared.backups.pages import BackupsView

app_name = "operator"
# Django's own views of forms also take PUT.
class_page = operator_page("GET", "HEAD", "POST")
urlpatterns = [
    path("", records.overview, name="overview"),
    path("sign-in", account.sign_in, name="sign_in"),
    path("hand-over", account.hand_over, name="hand_over"),
    path("hand-over/end", account.end_hand_over, name="end_hand_over"),
    path("sign-out", account.sign_out, name="sign_out"),
    path("account", class_page(account.PasswordView.as_view()), name="password"),
    path("account/app", class_page(account.AppView.as_view()), name="second_factor"),
    path(
        "backups",
        class_page(
            BackupsView.as_view(
                template_name="marketplace/operator/backups.html",
                backup="marketplace_backup",
                restore="marketplace_restore",
                # Where it is, is known for certain if it hands its users over.
                extra_context={"site_url": settings.HAND_OVER_SECRET and settings.SITE_URL},
            )
        ),
        name="backups",
    ),
    path("operators", account.operators, name="operators"),
    path("operators/<int:pk>/site-account", account.site_account, name="site_account"),
    path("operators/<int:pk>/removal", account.remove_operator, name="remove_operator"),
    path(
        "new-password/<uidb64>/<token>",
        get_or_post(account.NewPasswordView.as_view()),
        name="new_password",
    ),
    path("requesters", records.requesters, name="requesters"),
    path("requesters/<int:pk>", records.requester, name="requester"),
    path("requesters/<int:pk>/money", records.add_money, name="add_money"),
    path("requesters/<int:pk>/keys", records.replace_keys, name="replace_keys"),
    path("workers", workers.workers, name="workers"),
    path("workers/<str:public_id>", workers.worker, name="worker"),
    path("workers/<str:public_id>/link", workers.link, name="sign_in_link"),
    path("workers/<str:public_id>/sessions", workers.end_sessions, name="end_sessions"),
    path("workers/<str:public_id>/suspension", workers.suspend, name="suspend"),
    path("workers/<str:public_id>/data.json", workers.data, name="worker_file"),
    path("workers/<str:public_id>/erasure", workers.erase, name="erase_worker"),
    path("people", people.groups, name="people"),
    path("people/<int:pk>", people.group, name="people_group"),
    path("people/<int:pk>/link", people.replace_link, name="people_link"),
    path("people/<int:pk>/open", people.open_group, name="open_people"),
    path("people/<int:pk>/tasks", people.offer, name="people_offer"),
    path("people/<int:pk>/tasks/<int:offer_pk>/close", people.close_offer, name="close_offer"),
    path("people/<int:pk>/mail", people.invite, name="people_mail"),
    path("people/<int:pk>/mail/again", people.send_again, name="people_mail_again"),
    path("people/<int:pk>/hours.csv", people.hours_csv, name="people_hours"),
    path("people/<int:pk>/withdrawals.csv", people.withdrawals_csv, name="people_withdrawals"),
    path(
        "people/<int:pk>/members/<str:public_id>/withdrawal",
        people.withdraw,
        name="withdraw_member",
    ),
    path("invitations", invitations.invitations, name="invitations"),
    path("invitations/<int:pk>/end", invitations.end_invitation, name="end_invitation"),
    path("studies", invitations.studies, name="studies"),
    path("studies/<slug:slug>/open", invitations.open_study, name="open_study"),
    path("layouts", invitations.layouts, name="layouts"),
    path("groups", records.groups, name="groups"),
    path("hits", records.hits, name="hits"),
    path("hits/<str:public_id>", records.hit, name="hit"),
    path("activity", records.activity, name="activity"),
    path("money", records.money, name="money"),
    path("money/ledger", records.ledger, name="ledger"),
    path("money/payouts", records.pay_out, name="pay_out"),
    path("money/payouts/<str:made_at>.csv", records.payout_csv, name="payout_csv"),
    *(pattern for extension in extensions() for pattern in extension.operator_urls),
]
