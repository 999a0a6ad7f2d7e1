#!/bin/sh
# Installs both sites on one Debian machine, with PostgreSQL, Redis, Caddy and a daily backup:
#
#   sh deploy/debian.sh https://captions.example.org https://work.example.org
#
# The checkout must be /opt/captions, and both names must lead to this machine. What is there
# already is kept, so run it again after an update. docs/operator.md explains it.
set -eu
if [ $# -ne 2 ]; then
  sed -n 2,7p "$0"
  exit 2
fi
cd /opt/captions
random() { python3 -c "import secrets; print(secrets.token_urlsafe(50))"; }

apt-get update
apt-get install --yes caddy postgresql python3-venv redis-server

id captions >/dev/null 2>&1 ||
  useradd --system --home-dir /opt/captions --shell /usr/sbin/nologin captions
[ -e .venv ] || python3 -m venv .venv
.venv/bin/pip install --quiet --require-hashes --requirement requirements.txt
install --directory --owner captions --mode 700 var /var/backups/captions

if [ ! -e /etc/captions.env ]; then
  password=$(random)
  (umask 077 && cat >/etc/captions.env) <<END
SITE_URL=$1
MARKETPLACE_URL=$2
MTURK_ENDPOINT=$2
SECRET_KEY=$(random)
MARKETPLACE_SECRET_KEY=$(random)
POSTGRES_PASSWORD=$password
DATABASE_URL=postgres://captions:$password@127.0.0.1:5432/captions
MARKETPLACE_DATABASE_URL=postgres://captions:$password@127.0.0.1:5432/marketplace
CELERY_BROKER_URL=redis://127.0.0.1:6379/0
MEDIA_ROOT=/opt/captions/var/media
BEHIND_PROXY=true
MARKETPLACE_BEHIND_PROXY=true
SYNC_SECONDS=10
WEB_CONCURRENCY=2
END
fi
install --mode 755 deploy/captions-manage /usr/local/bin/

(set -a && . /etc/captions.env && runuser --user postgres -- psql --quiet --set ON_ERROR_STOP=1) <<'END'
\getenv password POSTGRES_PASSWORD
SELECT 'CREATE ROLE captions LOGIN'
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'captions') \gexec
ALTER ROLE captions PASSWORD :'password';
ALTER ROLE captions SET random_page_cost = 1.1; -- the disk is taken for a fast one
SELECT format('CREATE DATABASE %I OWNER captions', name)
  FROM (VALUES ('captions'), ('marketplace')) AS wanted (name)
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name) \gexec
END

captions-manage migrate --no-input
captions-manage migrate --no-input --settings marketplace.settings
if ! grep -q ^AWS_ACCESS_KEY_ID= /etc/captions.env; then
  captions-manage marketplace_requester lab --json | python3 -c '
import json, sys
keys = json.load(sys.stdin)
print("AWS_ACCESS_KEY_ID=" + keys["access_key"])
print("AWS_SECRET_ACCESS_KEY=" + keys["secret_key"])
' >>/etc/captions.env
fi

install --mode 644 deploy/systemd/* /etc/systemd/system/
install --mode 644 deploy/Caddyfile /etc/caddy/
install --directory /etc/systemd/system/caddy.service.d
cat >/etc/systemd/system/caddy.service.d/captions.conf <<END
[Service]
Environment=SITE_URL=$1 SITE_UPSTREAM=127.0.0.1:8000
Environment=MARKETPLACE_URL=$2 MARKETPLACE_UPSTREAM=127.0.0.1:8001
END
systemctl daemon-reload
systemctl enable captions-marketplace captions-site captions-jobs captions-beat \
  captions-worker@1 captions-worker@2 captions-backup.timer
systemctl restart captions-marketplace captions-site captions-jobs captions-beat \
  captions-worker@1 captions-worker@2 captions-backup.timer caddy
echo "Now make yourself an account: captions-manage createsuperuser"
echo "At the marketplace: captions-manage marketplace_operator YOUR_NAME"
