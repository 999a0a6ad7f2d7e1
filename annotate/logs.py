"""What a log line may say: never a worker's id, which the task page has in its query string."""

import logging
import re

QUERY = re.compile(r"\?[^\s\"']+")


class HideQueryStrings(logging.Filter):
    """Cuts the query string off every address in a log line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = QUERY.sub("?…", record.getMessage())
        record.args = ()
        return True
