"""Connections of the embedded web server."""

from waitress.channel import HTTPChannel


class Channel(HTTPChannel):  # type: ignore[misc]
    """Leaves sending to the thread that answers, until it has answered.

    waitress lets its main thread send, too. While the other thread sends, the main thread then
    finds again and again that it cannot.
    """

    def writable(self) -> bool:
        """Whether the main thread has to send something."""
        is_answering = bool(self.requests)
        if is_answering and self.total_outbufs_len < self.adj.outbuf_high_watermark:
            return bool(self.will_close or self.close_when_flushed)
        return bool(super().writable())
