"""Look for known vulnerabilities in the pinned packages, by pip-audit.

`make lint` runs this. Without an answer of the index of vulnerabilities it says that the check was
skipped and why, and succeeds: a machine without the internet can run `make lint`. Status 1 means
that a package has a known vulnerability, or that pip-audit failed although the index answers.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parent.parent
# PyPI's JSON API, which pip-audit asks by default. This answer shows whether it can.
INDEX = "https://pypi.org/pypi/pip/json"
SECONDS = 10


def why_skipped(index: str) -> str:
    """Why the vulnerabilities cannot be looked up now; empty if they can."""
    try:
        answer = requests.get(index, timeout=SECONDS)
        has_list = answer.status_code == 200 and "vulnerabilities" in answer.json()
    except (requests.RequestException, ValueError) as error:
        return f"{index} does not answer ({type(error).__name__})"
    return "" if has_list else f"{index} has no list of vulnerabilities ({answer.status_code})"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, default=[ROOT / "requirements.txt"])
    parser.add_argument("--index", default=os.environ.get("AUDIT_INDEX", INDEX))
    asked = parser.parse_args()
    if reason := why_skipped(asked.index):
        print(f"pip-audit was skipped: {reason}.")
        return 0
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--no-deps",
        "--disable-pip",
        "--progress-spinner",
        "off",
    ]
    files = [part for file in asked.files for part in ("--requirement", str(file))]
    return min(subprocess.run([*command, *files], check=False).returncode, 1)


if __name__ == "__main__":
    sys.exit(main())
