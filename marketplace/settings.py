"""The marketplace site's settings, all read from the environment.

Names that begin with `MTURK_` are choices where Mechanical Turk's behaviour is documented in two
ways or not at all; their defaults are what most recorded evidence points to.
"""

import os
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from environment import flag, words
from marketplace.keys import path_beside, stored_key

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"


# The site's own address: the API's endpoint, and the `turkSubmitTo` that task frames are told.
MARKETPLACE_URL = os.environ.get("MARKETPLACE_URL", "http://127.0.0.1:8001").rstrip("/")
MARKETPLACE_HOST = urlsplit(MARKETPLACE_URL).hostname or ""
IS_HTTPS = MARKETPLACE_URL.startswith("https://")
# A second address of this same server, on another host, for the pages that are in HITs
# themselves; empty to serve them, sandboxed, from the first.
MARKETPLACE_FRAME_URL = os.environ.get("MARKETPLACE_FRAME_URL", "").rstrip("/")
MARKETPLACE_FRAME_HOST = urlsplit(MARKETPLACE_FRAME_URL).netloc
if MARKETPLACE_FRAME_URL and urlsplit(MARKETPLACE_URL).netloc == MARKETPLACE_FRAME_HOST:
    raise ImproperlyConfigured("MARKETPLACE_FRAME_URL must be another host than MARKETPLACE_URL.")

DEBUG = flag("MARKETPLACE_DEBUG", default=False)
ALLOWED_HOSTS = [
    *words("MARKETPLACE_ALLOWED_HOSTS"),
    MARKETPLACE_HOST,
    *filter(None, [urlsplit(MARKETPLACE_FRAME_URL).hostname]),
    "127.0.0.1",
    "localhost",
    "[::1]",
    # The names that programs written for Amazon call, in the TLS mode.
    "mturk-requester.us-east-1.amazonaws.com",
    "mturk-requester-sandbox.us-east-1.amazonaws.com",
]
CSRF_TRUSTED_ORIGINS = [MARKETPLACE_URL]

INSTALLED_APPS = [
    # For operators alone; requesters have keys, and workers accounts of their own.
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "marketplace",
]

MIDDLEWARE = [
    "marketplace.pages.middleware.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "marketplace.pages.middleware.ContentSecurityPolicyMiddleware",
    "marketplace.pages.middleware.FrameHostMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "marketplace.pages.middleware.WellFormedMiddleware",
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
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "marketplace.pages.context.session",
            ],
        },
    }
]

DATABASE_URL = os.environ.get(
    "MARKETPLACE_DATABASE_URL", f"sqlite:///{VAR_DIR / 'marketplace.sqlite3'}"
)
# A connection that the server has cut is replaced before a request uses it.
DATABASES = {
    "default": dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True)
}
_database_file = ""
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    _database_file = str(DATABASES["default"]["NAME"])
    # Django's own, with threads that write in the order in which they asked to.
    DATABASES["default"]["ENGINE"] = "marketplace.sqlite"
    # Write-ahead logging lets readers go on while one writes; IMMEDIATE makes a writer wait for
    # its turn at the start of a transaction, where waiting is safe, and not in its middle.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 60,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A test database in memory cannot be shared with threads as a file can.
    DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / "test-marketplace.sqlite3"}
    VAR_DIR.mkdir(exist_ok=True)
# Signs sessions, sign-in links, invitations and the pages of lists. Where none is set, one is made
# and kept; then the marketplace listens on this machine alone (`marketplace.listening`).
SECRET_KEY = os.environ.get("MARKETPLACE_SECRET_KEY", "").strip()
SECRET_KEY_IS_SET = bool(SECRET_KEY)
if not SECRET_KEY_IS_SET:
    SECRET_KEY = stored_key(path_beside(_database_file, otherwise=VAR_DIR))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [("marketplace", BASE_DIR / "static" / "marketplace")]
WHITENOISE_USE_FINDERS = True

# Cookies know no ports: both sites on one machine need cookies of different names.
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_FAILURE_VIEW = "marketplace.pages.problems.stale_form"
SESSION_COOKIE_AGE = 30 * 24 * 3600
# Who came from a panel follows its link again after that time.
STUDY_SESSION_AGE = timedelta(days=1)
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
# What a proxy says of a request is believed only where there is one: anybody can send headers.
BEHIND_PROXY = flag("MARKETPLACE_BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Browsers that come by http are sent to https, and stay there for a year.
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SILENCED_SYSTEM_CHECKS = [
    # Django's SecurityMiddleware is there, in a class of this site's own.
    "security.W001",
    # Whether other hosts of the domain have https, this site does not know.
    "security.W005",
    "security.W021",
]
SECURE_REFERRER_POLICY = "same-origin"
APPEND_SLASH = False
# A request of the API, or a worker's answers; more is not read at all.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4_000_000
# A page with a field for each cell of a table has thousands.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # Request lines name worker ids in their query strings; what went wrong is logged elsewhere.
    "loggers": {"django.request": {"level": "ERROR"}, "django.server": {"level": "ERROR"}},
}

# How often the background sweeper looks for what is due.
SWEEP_SECONDS = float(os.environ.get("MARKETPLACE_SWEEP_SECONDS", "1"))
SERVER_THREADS = int(os.environ.get("MARKETPLACE_THREADS", "16"))
SIGN_IN_LINK_AGE = timedelta(days=30)
# Whether anybody may make an account without an invitation.
SIGN_UP_IS_OPEN = flag("MARKETPLACE_SIGN_UP", default=False)
# Shared with one other site, which may then sign people in by links of its own; empty for none.
SSO_SECRET = os.environ.get("MARKETPLACE_SSO_SECRET", "")
if 0 < len(SSO_SECRET) < 32:
    raise ImproperlyConfigured(
        "MARKETPLACE_SSO_SECRET must have at least 32 characters: anybody who guesses it "
        "can sign in as any worker."
    )
SSO_LINK_AGE = timedelta(minutes=15)
# So many tries at signing in for one account and from one address, and so many new accounts
# from one address, each within its time.
ATTEMPTS_WITHIN = timedelta(minutes=15)
ATTEMPTS_PER_ACCOUNT = 10
ATTEMPTS_PER_ADDRESS = 100
NEW_ACCOUNTS_PER_ADDRESS = 200
# How often people whom a panel sends may arrive from one address, in that time.
ARRIVALS_PER_ADDRESS = 500
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["name"]},
    },
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
SIGNATURE_AGE = timedelta(minutes=15)
# How long the operator's activity log goes back.
ACTIVITY_KEPT = timedelta(days=int(os.environ.get("MARKETPLACE_ACTIVITY_DAYS", "365")))
if not timedelta(days=1) <= ACTIVITY_KEPT <= timedelta(days=36_500):
    raise ImproperlyConfigured("MARKETPLACE_ACTIVITY_DAYS must be between 1 and 36500.")
# How long else is kept what docs/marketplace.md says under "Retention".
NOTIFICATIONS_KEPT = timedelta(days=30)
MESSAGES_KEPT = timedelta(days=365)
IDLE_PARTICIPANTS_KEPT = timedelta(days=30)
# How often the server looks for what it keeps no longer.
RETENTION_SECONDS = 600.0
# The clock can be set and faults injected: for tests of clients, never for real work.
TEST_HOOKS = flag("MARKETPLACE_TEST_HOOKS", default=False)

# Fees: a share of reward and bonus, a further share of the reward from ten assignments on, and
# the least for one payment.
MTURK_FEE_SHARE = Decimal("0.20")
MTURK_LARGE_HIT_FEE_SHARE = Decimal("0.20")
MTURK_LARGE_HIT_ASSIGNMENTS = 10
MTURK_LEAST_FEE = Decimal("0.01")
# A further share of the reward where Masters are asked for, by reports of 2015 and 2016, and sums
# for an assignment by the id of a premium qualification type: no figures are known.
MTURK_MASTERS_FEE_SHARE = Decimal("0.05")
MTURK_PREMIUM_FEES: dict[str, Decimal] = {}
# The most for one assignment or bonus.
MTURK_MOST_REWARD = Decimal("1000000.00")
MTURK_STARTING_BALANCE = Decimal("10000.00")

MTURK_DEFAULT_PAGE_SIZE = 10
MTURK_SERVICE_FAULT_STATUS = 500
MTURK_TOKEN_LIFE = timedelta(hours=24)
MTURK_DUPLICATE_TOKEN_CODE = "InvalidParameterValue"
MTURK_OVERRIDE_REJECTION_WITHIN = timedelta(days=30)
# Whether an assignment goes on to tell when it was rejected, once that is overridden.
MTURK_REJECTION_TIME_KEPT = True
# A bonus may need work that was done for the requester so lately; 0 for any time.
MTURK_BONUS_WITHIN = timedelta(0)
MTURK_DISPOSE_AFTER = timedelta(days=120)
# GetHIT on a disposed HIT: answered (True), or HITDoesNotExist (False).
MTURK_DISPOSED_HITS_READABLE = True
# After expiry a HIT either goes on to report the slots nobody took, or reports none.
MTURK_AVAILABLE_AFTER_EXPIRY = "keep"
# The least by which an expiration can be moved, and whether the same one a second time is refused
# as a repeated request.
MTURK_EXPIRATION_STEP = timedelta(0)
MTURK_REPEATED_EXPIRATION_REFUSED = False
# A HIT with both a Question and a layout: refused (True), or the Question counts.
MTURK_ONE_QUESTION_ONLY = True
# Whether an added slot alone reopens a HIT whose expiration is over.
MTURK_SLOTS_REOPEN_EXPIRED = False
MTURK_DELETABLE_HIT_STATUSES = ["Reviewable", "Reviewing"]
MTURK_LIFETIME_SECONDS = (30, 31_536_000)
MTURK_DURATION_SECONDS = (30, 31_536_000)
MTURK_AUTO_APPROVAL_SECONDS = (0, 2_592_000)
MTURK_MAX_ASSIGNMENTS = 1_000_000_000
MTURK_QUESTION_MAX_BYTES = 65_535
# Both are documented; what was asked for is echoed.
MTURK_NOTIFICATION_VERSIONS = ["2006-05-05", "2014-08-15"]
# Where SQS and SNS answer; empty for Amazon's own.
MTURK_NOTIFICATION_ENDPOINT = os.environ.get("MARKETPLACE_NOTIFICATION_ENDPOINT", "")
# Keys made for this purpose, and the queues and topics of Amazon's that they may be used for:
# whole addresses, or beginnings that end in an asterisk. boto3's own way to find keys is not used.
NOTIFICATION_KEYS = tuple(
    os.environ[name]
    for name in (
        "MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID",
        "MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY",
    )
    if os.environ.get(name)
)
if len(NOTIFICATION_KEYS) == 1:
    raise ImproperlyConfigured(
        "Set both MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID and "
        "MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY, or neither."
    )
NOTIFICATION_DESTINATIONS = words("MARKETPLACE_NOTIFICATION_DESTINATIONS")
# Notifications come at least once, in no promised order: how many copies of each are sent, and
# whether those that wait are sent newest first.
MTURK_NOTIFICATION_COPIES = 1
MTURK_NOTIFICATIONS_NEWEST_FIRST = False
# How long a new HIT or qualification type is missing from lists, and how long a new HIT refuses
# any change but to be expired.
MTURK_LISTING_LAG = timedelta(0)
MTURK_MODIFIABLE_AFTER = timedelta(0)
# Whether an AssignmentId that was returned is given to the next worker who accepts the HIT.
MTURK_REISSUE_ASSIGNMENT_IDS = False
# Whether the system's own qualification types can be read and are listed.
MTURK_SYSTEM_TYPES_READABLE = True
MTURK_NEEDS_HISTORY_FOR_MESSAGES = True
MTURK_MOST_BLOCKS = 100_000
# What a worker who lacks a qualification meets beside DoesNotExist: NotEqualTo, for instance.
MTURK_LACKED_MEETS: list[str] = []
# Whose qualifications are listed where no Status is given.
MTURK_HOLDERS_LISTED = ["Granted"]
# Calls of a requester in a second before they are throttled; 0 for no limit.
MTURK_CALLS_PER_SECOND = 0.0
# Amazon's two ids of the Masters qualification, the sandbox's and production's: programs name one
# or the other.
MTURK_MASTERS_IDS = ["2ARFPLSP75KLA8M8DH1HTEQVJT3SY6", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"]

# Mechanical Turk demands https; a task server on the same machine has no certificate to show.
MTURK_HTTP_HOSTS = ["127.0.0.1", "localhost", "[::1]", *words("MARKETPLACE_HTTP_HOSTS")]
# Pages written for Amazon open surveys and experiments in windows of their own. The last token
# lets the page after a submission lead on to the next HIT without JavaScript.
MTURK_FRAME_SANDBOX = (
    "allow-scripts allow-forms allow-same-origin allow-modals allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
MTURK_PREVIEW_HAS_WORKER_ID = False
# A field that comes several times: its values joined into one answer, or an answer for each.
MTURK_REPEATED_FIELDS = "join"
# A form with nothing but `hitId` and `workerId` beside the assignment's id, as psiTurk's is: both
# are taken as the answers (True), or the form is refused as empty.
MTURK_FRAME_FIELDS_ALONE_ARE_ANSWERS = True
MTURK_ANSWERS_MAX_BYTES = 1_000_000
MTURK_QUEUE_LENGTH = 25
