"""The requester site's settings. `docs/settings.md` names those that the environment sets."""

from datetime import timedelta
from math import ceil
from urllib.parse import urlsplit

from kombu import Queue

from config.breadcrumbs import CAMPAIGN, PAGES
from config.environment import Environment
from corpora.evaluation.java import Java
from shared.environment import read
from shared.logs import logging_settings, report_errors
from shared.secret_key import data_folder, kept_key
from shared.settings import *  # noqa: F403
from shared.settings import BASE_DIR, TIME_ZONE, VAR_DIR, databases

ENV = read(Environment)
# In backups.
SITE_NAME = "requester"

# The site's own URL, for workers' browsers and the marketplace's frames.
SITE_URL = ENV.site_url
SITE_HOST = urlsplit(SITE_URL).hostname or ""
IS_HTTPS = SITE_URL.startswith("https://")

DEBUG = ENV.debug
ALLOWED_HOSTS = ENV.allowed_hosts or [SITE_HOST, "127.0.0.1", "localhost"]
CSRF_TRUSTED_ORIGINS = [SITE_URL]

# The marketplace, and how often it is called.
MTURK_ENDPOINT = ENV.mturk_endpoint
MARKETPLACE_URL = ENV.marketplace_url  # of the endpoint `local`
HAND_OVER_SECRET = ENV.hand_over_secret
MTURK_WORKER_ORIGINS = ENV.mturk_worker_origins
MTURK_MAX_ATTEMPTS = 8
MTURK_CONNECT_TIMEOUT = 5
MTURK_READ_TIMEOUT = ENV.mturk_read_timeout
MTURK_CALLS_PER_SECOND = ENV.mturk_calls_per_second
MTURK_READ_WAIT_SECONDS = ENV.mturk_read_wait_seconds
# Seconds between two listings of all HITs: without a queue of events, and with one.
MTURK_LIST_SECONDS = ENV.mturk_list_seconds or 0
MTURK_POLL_SECONDS = 600 if ENV.mturk_list_seconds is None else ENV.mturk_list_seconds
MTURK_NOTIFICATION_QUEUE_URL = ENV.mturk_notification_queue_url
MTURK_SQS_ENDPOINT_URL = "/".join(MTURK_NOTIFICATION_QUEUE_URL.split("/")[:3])
MTURK_SQS_ACCESS_KEY_ID = ENV.mturk_sqs_access_key_id
MTURK_SQS_SECRET_ACCESS_KEY = ENV.mturk_sqs_secret_access_key
# Prolific's fees, for estimates: the marketplace site reads the same variables.
PROLIFIC_SERVICE_FEE = ENV.prolific_service_fee
PROLIFIC_VAT = ENV.prolific_vat

INSTALLED_APPS = [
    # Before the apps whose commands it replaces: `createsuperuser` and `runserver`.
    "accounts",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "shared.backups",
    "shared.second_factors",
    "background",
    "annotate",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "axes",
    "qualcontrol",
    "hits",
    "leaderboard",
    "simulation",
]

MIDDLEWARE = [
    # The first two see every answer, those of other middleware too.
    "shared.metrics.RequestMonitor",
    "shared.requests.HeadMiddleware",
    "shared.requests.StorableCookiesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "accounts.pages.every_page.LastSlashMiddleware",
    "accounts.pages.every_page.RequestSizeMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.pages.every_page.FormTeamMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.pages.every_page.SignInMiddleware",
    "leaderboard.access.SubmittersSeeOnlyChallenges",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "shared.requests.ContentSecurityPolicyMiddleware",
    "shared.requests.WellFormedMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"once": "shared.once"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.pages.every_page.installation",
                "accounts.pages.every_page.team",
                "leaderboard.access.submitter",
            ],
            # Replaces `csrf_token`, so that no form can lack its team.
            "builtins": ["accounts.templatetags.parts"],
        },
    }
]

DATABASES = databases(
    ENV.database_url,
    file="campaigns.sqlite3",
    timeout=30,
    # A cache of 64 MB. With SQLite's default of 2 MB, a large campaign reads its indexes
    # repeatedly.
    pragmas="PRAGMA cache_size=-65536;",
)
# Folder of the signing key, and of the keys and logs of `serve`.
DATA_DIR = data_folder(DATABASES["default"], otherwise=VAR_DIR)

# Signs sessions and the forms of the task page. `serve`, `runserver` and config.wsgi also check
# the address that they listen on.
SECRET_KEY = ENV.secret_key
SECRET_KEY_VARIABLE = "SECRET_KEY"
SECRET_KEY_IS_SET = bool(SECRET_KEY)
# Earlier keys, whose signatures are still accepted.
SECRET_KEY_FALLBACKS = ENV.secret_key_fallbacks
if not SECRET_KEY_IS_SET:
    SECRET_KEY = kept_key(DATA_DIR / "requester-secret-key", variable=SECRET_KEY_VARIABLE)

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "hits:campaigns"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "shared.second_factors.services.PasswordAndCode",
]
# Wrong passwords are counted per account and address, per address, and per account. The limit per
# account is the highest, so that nobody can lock others out from a single address.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "ip_address", "username"]
SIGN_IN_LIMITS = (10, 50, 100)
# Sign-in is locked once any limit is reached, until this time after the last counted attempt.
# Attempts during the lock do not count, so they cannot prolong it.
AXES_FAILURE_LIMIT = 1
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_HANDLER = "accounts.limits.SignInLimits"
AXES_USERNAME_CALLABLE = "accounts.limits.counted_name"
AXES_CLIENT_IP_CALLABLE = "shared.requests.client_address"
AXES_LOCKOUT_CALLABLE = "accounts.limits.locked"
AXES_DISABLE_ACCESS_LOG = True
# Not stored with failed attempts, besides passwords.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code"]
AXES_VERBOSE = False
# Each process counts requests here, by address and by token. Django itself would keep 300 counts.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    }
}
# How many forms people who are not signed in may send from one address, to each web process: new
# passwords, invitations, new accounts. 0 sets no limit. Wrong passwords have limits of their own.
PUBLIC_POSTS_PER_HOUR = 60
# How many pages it may load in a minute that compute something for everybody; 0 sets no limit.
PUBLIC_READS_PER_MINUTE = 60
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en-us"
LOCALE_PATHS = [BASE_DIR / "annotate/locale"]

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_URL = "media/"
MEDIA_ROOT = ENV.media_root or VAR_DIR / "media"
# Larger image files are not imported.
IMAGE_MAX_PIXELS = 89478485
IMAGE_MAX_MB = 50
# Uploaded files wait here for their import: beside MEDIA_ROOT and not below it, because nothing in
# it has been checked.
UPLOAD_ROOT = MEDIA_ROOT.parent / "uploads"
UPLOAD_MAX_MB = ENV.upload_max_mb
UPLOAD_MAX_FILES = 2000
# Limits of what the ZIP archives of an upload contain.
UNPACKED_MAX_MB = 4000
UNPACKED_MAX_FILES = 50000
IMAGES_FOLDER = ENV.images_folder or ""

EVALUATION_JAVA = Java(spice_models=ENV.spice_models)

# Redirect browsers from http to https, and make them stay there for a year.
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
# Programs that watch the site ask its processes themselves, not the proxy.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SILENCED_SYSTEM_CHECKS = [
    # This site does not know whether other hosts of the domain support https.
    "security.W005",
    "security.W021",
]
# Trust forwarded headers only behind a proxy, because any client can send them.
BEHIND_PROXY = ENV.behind_proxy
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_FAILURE_VIEW = "accounts.pages.errors.stale_form"
# Images may come from the dataset's host, everything else from this site. Browsers do not load http
# images on an https page, even though `http:` is listed.
CONTENT_POLICY = {"img-src": "'self' data: https: http:"}
# The page for a request that is refused.
REFUSAL_TEMPLATE = "error.html"
# Forms of task pages are small; larger request bodies are refused.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "shared.requests.TemporaryFiles",
]
DATA_UPLOAD_MAX_NUMBER_FILES = UPLOAD_MAX_FILES + 10

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.api.access.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["leaderboard.access.IsResearcher"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "accounts.api.handlers.JSONBody",
    ],
    "DEFAULT_THROTTLE_CLASSES": [
        "accounts.api.access.ReadsByToken",
        "accounts.api.access.WritesByToken",
    ],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "accounts.api.lists.CountedPages",
    "DEFAULT_SCHEMA_CLASS": "accounts.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "accounts.api.handlers.handle_error",
}
# How many requests of one token each web process answers in a minute; 0 sets no limit.
API_READS_PER_MINUTE = ENV.api_reads_per_minute
API_WRITES_PER_MINUTE = ceil(API_READS_PER_MINUTE / 5)
SPECTACULAR_SETTINGS = {
    "TITLE": "Caption campaigns",
    "DESCRIPTION": "Images, selections, campaigns, responses, reviews, payments and releases.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"docExpansion": "list", "persistAuthorization": False},
    "COMPONENT_SPLIT_REQUEST": True,
    # Relative to the address of the schema, so that its page works under each name of the site.
    "SERVERS": [{"url": "/", "description": "This site"}],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "annotate.api.documentation.describe",
        "accounts.api.schema.defaults_in_words",
    ],
    "ENUM_NAME_OVERRIDES": {
        "JobStatus": "background.models.JobStatus",
        "CampaignStatus": "annotate.models.CampaignStatus",
        "ResponseStatus": "annotate.models.ResponseStatus",
        "SubmissionStatus": "leaderboard.models.SubmissionStatus",
        "Track": "leaderboard.models.Track",
    },
}

SUBMITTERS_MAY_SIGN_UP = ENV.submitters_may_sign_up
SCORES_AT_ONCE = ENV.scores_at_once

EMAIL_HOST = ENV.email_host
if EMAIL_HOST == "console":  # To try it without a mail server.
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
EMAIL_PORT = ENV.email_port
EMAIL_HOST_USER = ENV.email_host_user
EMAIL_HOST_PASSWORD = ENV.email_host_password
EMAIL_USE_TLS = ENV.email_use_tls
DEFAULT_FROM_EMAIL = ENV.email_from or f"campaigns@{SITE_HOST}"

# How long a webhook may take to answer, in seconds.
WEBHOOK_SECONDS = 10
WEBHOOKS_TO_PRIVATE_NETWORKS = ENV.private_networks

# How long fetching one image by its URL may take, in seconds.
IMAGE_FETCH_SECONDS = 30
IMAGES_FROM_PRIVATE_NETWORKS = ENV.private_networks
# The server with buckets of images, and its keys, not the requester's for the marketplace.
S3_ENDPOINT_URL = ENV.s3_endpoint_url
S3_ACCESS_KEY_ID = ENV.s3_access_key_id
S3_SECRET_ACCESS_KEY = ENV.s3_secret_access_key
COPIES_BUCKET = ENV.copies_bucket
STORAGES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "image-copies": {"BACKEND": "annotate.images.copies.WholeFiles"},
}
if COPIES_BUCKET:
    _bucket, _, _folder = COPIES_BUCKET.removeprefix("s3://").partition("/")
    STORAGES["image-copies"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": _bucket,
            "location": _folder,
            "endpoint_url": S3_ENDPOINT_URL or None,
            "access_key": S3_ACCESS_KEY_ID,
            "secret_key": S3_SECRET_ACCESS_KEY,
            "file_overwrite": True,
        },
    }

WORKER_DATA_DAYS = ENV.worker_data_days  # None to keep them.

# Without a broker, tasks run in the process that calls them.
CELERY_BROKER_URL = ENV.celery_broker_url
CELERY_TASK_ALWAYS_EAGER = not CELERY_BROKER_URL
CELERY_BROKER_URL = CELERY_BROKER_URL or "memory://localhost/"
CELERY_TASK_EAGER_PROPAGATES = True
CELERY_TASK_IGNORE_RESULT = True
# A worker takes the next task when it is free, so the shares of a campaign spread over all workers.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Long tasks have their own queue. A worker takes tasks of both, or with the option `--queues` of
# one.
CELERY_TASK_QUEUES = [Queue(name, routing_key=name) for name in ("celery", "jobs")]
CELERY_TASK_ROUTES = {
    name: {"queue": "jobs"}
    for name in (
        "annotate.tasks.make_copies",
        "background.tasks.work_next",
        "hits.tasks.tidy",
        "leaderboard.tasks.score_next",
    )
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE
SYNC_SECONDS = ENV.sync_seconds

JOB_LEASE_SECONDS = ENV.job_lease_seconds

report_errors(ENV.sentry_dsn)

LOG_REQUESTS = ENV.log_requests
METRICS_TOKEN = ENV.metrics_token
METRICS_ADDRESS = ENV.metrics_address
# What is read from the database for each page of metrics.
METRICS = ["background.gauges.gauges", "hits.gauges.gauges", "leaderboard.gauges.gauges"]

LOGGING = logging_settings(
    loggers={
        "axes": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        # Replaces Django's handlers, which would write or mail whole requests.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": ["console"], "propagate": False},
    }
)

# Route of a campaign's page.
CAMPAIGN_PAGE = CAMPAIGN
# Where each page is, for the breadcrumbs.
BREADCRUMBS = PAGES
# Routes that take uploads of up to UPLOAD_MAX_MB.
UPLOAD_ROUTES = {"images:import", "api-image-list", "api-import-list"}
