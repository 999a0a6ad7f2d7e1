# `make demo` and `make test` need Python 3.11 or later and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin
# A process for each processor; one that has no tests left takes some of another's.
SIDE_BY_SIDE := -n auto --dist worksteal
# Without what starts processes or takes long. The ten slowest tests are printed.
QUICK := -m "not slow and not browser and not services" --durations 10

# A process that finds bytecode starts sooner.
unexport PYTHONDONTWRITEBYTECODE
# Options of `manage.py demo`.
DEMO :=

.PHONY: demo test test-site test-marketplace check serve lint types types-marketplace style audit format browser browser-site browser-marketplace bench javascript requirements clean

demo: .venv/installed
	$(BIN)/python manage.py demo $(DEMO)

test: test-site test-marketplace

test-site: .venv/installed-dev
	$(BIN)/pytest $(SIDE_BY_SIDE) $(QUICK)

test-marketplace: .venv/installed-dev
	$(BIN)/pytest $(SIDE_BY_SIDE) $(QUICK) tests/marketplace tests/shared --ds=marketplace.settings

# All tests but those that need PostgreSQL or Redis; quick and slow ones in one run of pytest.
check: QUICK :=
check: test browser javascript

serve: .venv/installed
	$(BIN)/python manage.py serve

lint: .venv/installed-dev
	$(MAKE) --jobs=2 --no-print-directory types style types-marketplace audit

# The parts of `make lint`, which run side by side. The two sites' types are checked with a settings
# module each, so each has a cache of its own.
types:
	DJANGO_SETTINGS_MODULE=config.settings $(BIN)/mypy shared corpora accounts background annotate qualcontrol hits leaderboard simulation config benchmarks tools

types-marketplace:
	DJANGO_SETTINGS_MODULE=marketplace.settings $(BIN)/mypy --cache-dir .mypy_cache/marketplace marketplace \
		benchmarks/marketplace.py

style:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python tools/arrows.py
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py makemigrations --check --dry-run --settings marketplace.settings

# Known vulnerabilities of the pinned packages; skipped, with the reason, if their index is away.
audit:
	$(BIN)/python tools/audit.py

format: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

browser: browser-site browser-marketplace

browser-site: .venv/installed-dev
	$(BIN)/pytest $(SIDE_BY_SIDE) tests/browser -m browser

browser-marketplace: .venv/installed-dev
	$(BIN)/pytest $(SIDE_BY_SIDE) tests/marketplace --ds=marketplace.settings -m browser

javascript:
	node --test tests/javascript/

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

requirements: .venv/installed-dev
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make requirements" requirements.in -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make requirements" requirements-dev.in -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make requirements" --constraints requirements-dev.txt \
		requirements-uv.in -o requirements-uv.txt

clean:
	rm -rf .venv build var

# The checked marker files make a second run start at once, and a changed list install again.
# requirements-dev.txt lists everything that requirements.txt lists, so it is installed alone.
.venv/installed: requirements.txt
	$(PYTHON) tools/install.py requirements.txt
	rm -f .venv/installed-dev
	touch $@

.venv/installed-dev: requirements-dev.txt requirements.txt
	$(PYTHON) tools/install.py requirements-dev.txt
	touch .venv/installed $@
