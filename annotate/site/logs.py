"""A log formatter that removes worker ids."""

import logging
import re

# The task page's URL has the worker's id in its query string.
QUERY = re.compile(r"\?[^\s\"']+")
# The form of worker ids. A traceback may contain one, if the database quotes it in an error. Other
# long words in capitals are replaced too, which does little harm.
WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,63}\b")


class PrivateFormatter(logging.Formatter):
    """Removes query strings and worker ids from log entries, including tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        text = QUERY.sub("?…", super().format(record))
        return WORKER_ID.sub("(a worker)", text)
