from tests.hits.conftest import marketplace, requester  # noqa: F401
