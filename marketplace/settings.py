"""The marketplace site's settings, all read from the environment.

Settings that begin with `MTURK_` select a behaviour where Mechanical Turk's is documented in two
ways or not at all. The defaults follow most of the recorded evidence.
"""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from marketplace.environment import Environment
from shared.environment import LOOPBACK_HOSTS, read
from shared.logs import logging_settings, report_errors
from shared.secret_key import data_folder, kept_key
from shared.settings import *  # noqa: F403
from shared.settings import BASE_DIR, VAR_DIR, databases

ENV = read(Environment)
# In backups.
SITE_NAME = "marketplace"

# The site's own URL: the API's endpoint, and `turkSubmitTo` in task frames.
MARKETPLACE_URL = ENV.marketplace_url
MARKETPLACE_HOST = urlsplit(MARKETPLACE_URL).hostname or ""
IS_HTTPS = MARKETPLACE_URL.startswith("https://")
# A second URL of this server, on another host, for pages that are part of HITs. If empty, the first
# host serves them in a sandbox.
MARKETPLACE_FRAME_URL = ENV.marketplace_frame_url
MARKETPLACE_FRAME_HOST = urlsplit(MARKETPLACE_FRAME_URL).netloc
if MARKETPLACE_FRAME_URL and urlsplit(MARKETPLACE_URL).netloc == MARKETPLACE_FRAME_HOST:
    raise ImproperlyConfigured("MARKETPLACE_FRAME_URL must be another host than MARKETPLACE_URL.")

DEBUG = ENV.marketplace_debug
ALLOWED_HOSTS = [
    *ENV.marketplace_allowed_hosts,
    MARKETPLACE_HOST,
    *filter(None, [urlsplit(MARKETPLACE_FRAME_URL).hostname]),
    "127.0.0.1",
    "localhost",
    "[::1]",
    # Host names that programs written for Amazon call, in TLS mode.
    "mturk-requester.us-east-1.amazonaws.com",
    "mturk-requester-sandbox.us-east-1.amazonaws.com",
]
CSRF_TRUSTED_ORIGINS = [MARKETPLACE_URL]

INSTALLED_APPS = [
    # Before the app whose command `createsuperuser` it replaces.
    "marketplace",
    # For operators only. Requesters have keys, and workers have accounts of their own.
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "shared.backups",
    "shared.second_factors",
    # Studies at Prolific by its API; a marketplace works without it.
    "marketplace.panels",
]

MIDDLEWARE = [
    # The first two see every answer, those of other middleware too.
    "shared.metrics.RequestMonitor",
    "shared.requests.HeadMiddleware",
    "shared.requests.StorableCookiesMiddleware",
    "marketplace.pages.middleware.RehearsalMiddleware",
    "marketplace.pages.middleware.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "shared.requests.ContentSecurityPolicyMiddleware",
    "marketplace.pages.middleware.FrameHostMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "shared.requests.WellFormedMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "marketplace.pages.middleware.SessionMiddleware",
]

ROOT_URLCONF = "marketplace.urls"
WSGI_APPLICATION = "marketplace.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"once": "shared.once"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "marketplace.pages.sessions.session",
            ],
        },
    }
]

DATABASES = databases(
    ENV.marketplace_database_url,
    file="marketplace.sqlite3",
    timeout=60,
    # Django's backend, but threads write in the order in which they asked to.
    engine="marketplace.sqlite",
)
# Signs sessions, sign-in links, invitations and page tokens. If it is not set, a key is generated
# and stored, and the marketplace listens only on this machine (`shared.secret_key`).
SECRET_KEY = ENV.marketplace_secret_key
SECRET_KEY_VARIABLE = "MARKETPLACE_SECRET_KEY"
SECRET_KEY_IS_SET = bool(SECRET_KEY)
SECRET_KEY_FALLBACKS = ENV.marketplace_secret_key_fallbacks
if not SECRET_KEY_IS_SET:
    _folder = data_folder(DATABASES["default"], otherwise=VAR_DIR)
    SECRET_KEY = kept_key(_folder / "marketplace-secret-key", variable=SECRET_KEY_VARIABLE)

LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "marketplace/locale"]
FORMAT_MODULE_PATH = "marketplace.formats"

STATIC_URL = "/static/"
STATICFILES_DIRS = [("marketplace", BASE_DIR / "static" / "marketplace")]

# Cookies ignore ports: two sites on one machine need cookies with different names.
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_FAILURE_VIEW = "marketplace.pages.problems.stale_form"
SESSION_COOKIE_AGE = 30 * 24 * 3600
# After this time, participants from a panel have to follow its link again.
STUDY_SESSION_AGE = timedelta(days=1)
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
# The page for a request that is refused.
REFUSAL_TEMPLATE = "marketplace/not_possible.html"
# Trust forwarded headers only behind a proxy, because any client can send them.
BEHIND_PROXY = ENV.marketplace_behind_proxy
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Redirect browsers from http to https, and make them stay there for a year.
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SILENCED_SYSTEM_CHECKS = [
    # Django's SecurityMiddleware is used through a subclass.
    "security.W001",
    # This site does not know whether other hosts of the domain support https.
    "security.W005",
    "security.W021",
]
APPEND_SLASH = False
# Enough for an API request or a worker's answers; larger bodies are refused.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4_000_000
# A form with a field for each cell of a table has thousands of fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000

# Errors are reported there without personal data; nowhere if empty.
report_errors(ENV.sentry_dsn)

LOG_REQUESTS = ENV.log_requests
# Programs that send this token can read the metrics; if empty, there is no page of metrics.
METRICS_TOKEN = ENV.marketplace_metrics_token
# What is read from the database for each page of metrics.
METRICS = ["marketplace.gauges.gauges"]

# Request lines contain worker ids in query strings. Errors are logged elsewhere.
LOGGING = logging_settings(
    loggers={"django.request": {"level": "ERROR"}, "django.server": {"level": "ERROR"}}
)

# The server that sends invitations by e-mail; if empty, none are sent.
EMAIL_HOST = ENV.email_host
EMAIL_PORT = ENV.email_port
EMAIL_HOST_USER = ENV.email_host_user
EMAIL_HOST_PASSWORD = ENV.email_host_password
EMAIL_USE_TLS = ENV.email_use_tls
DEFAULT_FROM_EMAIL = ENV.email_from or f"tasks@{MARKETPLACE_HOST}"

# Seconds between two sweeps.
SWEEP_SECONDS = ENV.marketplace_sweep_seconds
SERVER_THREADS = ENV.marketplace_threads
SIGN_IN_LINK_AGE = timedelta(days=30)
# Whether anybody can create an account without an invitation.
SIGN_UP_IS_OPEN = ENV.marketplace_sign_up
# Shared with one other site, which can then sign workers in with signed links; empty for none.
SSO_SECRET = ENV.marketplace_sso_secret
SSO_LINK_AGE = timedelta(minutes=15)
# Shared with the requester site at SITE_URL, whose users it then signs in as operators
# (`shared.hand_over`): those whom an operator allows and, with the second setting, all of its
# operators. Such a session ends early, because signing out there does not end it.
SITE_URL = ENV.site_url
HAND_OVER_SECRET = ENV.hand_over_secret
HAND_OVER_OPERATORS = ENV.hand_over_operators
HAND_OVER_SESSION_AGE = timedelta(hours=8)
# Limits within ATTEMPTS_WITHIN: sign-in attempts per account and per address, and new accounts per
# address.
ATTEMPTS_WITHIN = timedelta(minutes=15)
ATTEMPTS_PER_ACCOUNT = 10
ATTEMPTS_PER_ADDRESS = 100
NEW_ACCOUNTS_PER_ADDRESS = 200
# Arrivals from panels per address in the same time.
ARRIVALS_PER_ADDRESS = 500
AUTHENTICATION_BACKENDS = ["shared.second_factors.services.PasswordAndCode"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["name", "username"]},
    },
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
SIGNATURE_AGE = timedelta(minutes=15)
# How long the operator's activity log is kept.
ACTIVITY_KEPT = timedelta(days=ENV.marketplace_activity_days)
# Further retention times; see "Retention" in docs/marketplace.md.
NOTIFICATIONS_KEPT = timedelta(days=30)
MESSAGES_KEPT = timedelta(days=365)
SENT_FORMS_KEPT = timedelta(days=1)
IDLE_PARTICIPANTS_KEPT = timedelta(days=30)
# Days after a participant's last work in closed studies until the panel's id is deleted; None to
# keep it.
PANEL_IDS_KEPT = ENV.marketplace_panel_id_days
# Seconds between two rounds of deleting old rows.
RETENTION_SECONDS = 600.0
# Allows tests of clients to set the clock and inject faults. Never for real work.
TEST_HOOKS = ENV.marketplace_test_hooks

# From this number of assignments on, a HIT costs MTURK_LARGE_HIT_FEE_SHARE more.
MTURK_LARGE_HIT_ASSIGNMENTS = 10
# Amounts per assignment for premium qualification types, by id. No amounts are known.
MTURK_PREMIUM_FEES: dict[str, Decimal] = {}
# Maximum of one reward or bonus.
MTURK_MOST_REWARD = Decimal("1000000.00")
MTURK_STARTING_BALANCE = Decimal("10000.00")

# Prolific. The token is read from the environment only.
PROLIFIC_API_TOKEN = ENV.prolific_api_token
PROLIFIC_API_URL = ENV.prolific_api_url
# Where participants return to; `cc` with the code is added.
PROLIFIC_RETURN_URL = ENV.prolific_return_url
PROLIFIC_WORKSPACE = ENV.prolific_workspace
PROLIFIC_PROJECT = ENV.prolific_project
# The secret of the workspace's hooks; without it hooks are refused, and the site only polls.
PROLIFIC_HOOK_SECRET = ENV.prolific_hook_secret
# Share of rewards and bonuses that the panel charges, and of VAT on that charge.
PROLIFIC_SERVICE_FEE = ENV.prolific_service_fee
PROLIFIC_VAT = ENV.prolific_vat
# The least that the panel allows for a participant who is screened out.
PROLIFIC_LEAST_SCREEN_OUT = Decimal("0.14")
# Seconds between two readings of a study.
PROLIFIC_SECONDS = ENV.prolific_seconds
# A request to approve that has shown no effect is repeated after this time.
PROLIFIC_ASK_AGAIN = timedelta(minutes=10)
# The panel pays bonuses some minutes after the request. Until then nobody can say that an unclear
# batch was not paid.
PROLIFIC_BONUS_SETTLES = timedelta(hours=1)
# Least time between two batches of bonuses of a study.
PROLIFIC_BONUS_EVERY = timedelta(hours=1)
# A completed submission is approved after this time, even if its HITs are not decided.
PROLIFIC_DECIDE_WITHIN = timedelta(days=14)
# Work of a submission that was returned or timed out is paid as a bonus after this time.
PROLIFIC_UNREWARDED_AFTER = timedelta(days=7)
# Older hooks are refused.
PROLIFIC_HOOK_AGE = timedelta(hours=24)

MTURK_DEFAULT_PAGE_SIZE = 10
MTURK_SERVICE_FAULT_STATUS = 500
MTURK_TOKEN_LIFE = timedelta(hours=24)
MTURK_DUPLICATE_TOKEN_CODE = "InvalidParameterValue"
MTURK_OVERRIDE_REJECTION_WITHIN = timedelta(days=30)
# Whether an assignment still shows its rejection time after the rejection was overridden.
MTURK_REJECTION_TIME_KEPT = True
# A bonus requires that the worker submitted work to the requester within this time; 0 for no limit.
MTURK_BONUS_WITHIN = timedelta(0)
MTURK_DISPOSE_AFTER = timedelta(days=120)
# Whether GetHIT returns a disposed HIT (True) or raises HITDoesNotExist (False).
MTURK_DISPOSED_HITS_READABLE = True
# After expiry, a HIT either still reports its free assignments ("keep") or none.
MTURK_AVAILABLE_AFTER_EXPIRY = "keep"
# Minimum change of an expiration, and whether a repeated expiration is refused as a duplicate
# request.
MTURK_EXPIRATION_STEP = timedelta(0)
MTURK_REPEATED_EXPIRATION_REFUSED = False
# Whether a HIT with both a Question and a layout is refused (True) or the Question is used.
MTURK_ONE_QUESTION_ONLY = True
# Whether adding assignments reopens a HIT that has expired.
MTURK_SLOTS_REOPEN_EXPIRED = False
MTURK_DELETABLE_HIT_STATUSES = ["Reviewable", "Reviewing"]
MTURK_LIFETIME_SECONDS = (30, 31_536_000)
MTURK_DURATION_SECONDS = (30, 31_536_000)
MTURK_AUTO_APPROVAL_SECONDS = (0, 2_592_000)
MTURK_MAX_ASSIGNMENTS = 1_000_000_000
MTURK_QUESTION_MAX_BYTES = 65_535
# Both versions are documented; notifications repeat the requested one.
MTURK_NOTIFICATION_VERSIONS = ["2006-05-05", "2014-08-15"]
# URL of the SQS and SNS server; empty for Amazon's.
MTURK_NOTIFICATION_ENDPOINT = ENV.marketplace_notification_endpoint
# Keys for notifications only, and the Amazon queues and topics that they may be used for: complete
# URLs or ARNs, or prefixes that end in an asterisk. boto3's default credentials are not used.
NOTIFICATION_KEYS = tuple(
    filter(
        None,
        [
            ENV.marketplace_notification_access_key_id,
            ENV.marketplace_notification_secret_access_key,
        ],
    )
)
if len(NOTIFICATION_KEYS) == 1:
    raise ImproperlyConfigured(
        "Set both MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID and "
        "MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY, or neither."
    )
NOTIFICATION_DESTINATIONS = ENV.marketplace_notification_destinations
# Notifications are delivered at least once and in no particular order. For tests: how many copies
# of each to send, and whether to send the newest first.
MTURK_NOTIFICATION_COPIES = 1
MTURK_NOTIFICATIONS_NEWEST_FIRST = False
# How long a new HIT or qualification type is missing from lists, and how long a new HIT refuses all
# changes except expiring it.
MTURK_LISTING_LAG = timedelta(0)
MTURK_MODIFIABLE_AFTER = timedelta(0)
# Whether the id of a returned assignment is reused for the next worker of the HIT.
MTURK_REISSUE_ASSIGNMENT_IDS = False
# Whether the system's qualification types can be read and listed.
MTURK_SYSTEM_TYPES_READABLE = True
MTURK_NEEDS_HISTORY_FOR_MESSAGES = True
MTURK_MOST_BLOCKS = 100_000
# Comparators, besides DoesNotExist, that a worker without the qualification meets, for example
# NotEqualTo.
MTURK_LACKED_MEETS: list[str] = []
# Statuses of the qualifications that are listed if no Status is given.
MTURK_HOLDERS_LISTED = ["Granted"]
# Maximum calls per second and requester; 0 for no limit.
MTURK_CALLS_PER_SECOND = 0.0
# Amazon's ids of the Masters qualification in sandbox and production. Programs use one or the
# other.
MTURK_MASTERS_IDS = ["2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"]

# Mechanical Turk requires https. For an installation on one machine, its task server needs no
# certificate; on any other one, a worker's own machine must not be in the frame.
MTURK_HTTP_HOSTS = [*ENV.marketplace_http_hosts]
if MARKETPLACE_HOST in LOOPBACK_HOSTS:
    MTURK_HTTP_HOSTS += ["127.0.0.1", "localhost", "[::1]"]
# Frames of task pages. A policy cannot express an IPv6 address.
CONTENT_POLICY = {
    "frame-src": " ".join(
        [
            "'self' https:",
            *(f"http://{host}:*" for host in MTURK_HTTP_HOSTS if not host.startswith("[")),
            *filter(None, [MARKETPLACE_FRAME_URL]),
        ]
    )
}
# Pages written for Amazon open surveys in new windows. The last token lets the page after a
# submission open the next HIT without JavaScript.
MTURK_FRAME_SANDBOX = (
    "allow-scripts allow-forms allow-same-origin allow-modals allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
MTURK_PREVIEW_HAS_WORKER_ID = False
# A repeated field: its values are joined into one answer ("join"), or each is an answer.
MTURK_REPEATED_FIELDS = "join"
# A form with only `hitId` and `workerId` besides the assignment's id, such as psiTurk's: both are
# the answers (True), or the form is refused as empty.
MTURK_FRAME_FIELDS_ALONE_ARE_ANSWERS = True
MTURK_ANSWERS_MAX_BYTES = 1_000_000
MTURK_QUEUE_LENGTH = 25
