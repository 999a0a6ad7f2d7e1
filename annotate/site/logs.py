"""What a log may say: never a worker's id."""

import logging
import re

# The task page has worker ids in its query string.
QUERY = re.compile(r"\?[^\s\"']+")
# As marketplaces write them; a database may quote one in an error that ends in a traceback. Long
# words in capitals are taken for ids, too, which does little harm.
WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,63}\b")


class PrivateFormatter(logging.Formatter):
    """Cuts query strings off addresses and takes worker ids out of whole entries, tracebacks
    included."""

    def format(self, record: logging.LogRecord) -> str:
        text = QUERY.sub("?…", super().format(record))
        return WORKER_ID.sub("(a worker)", text)
