"""The operations of the API, one function each: look up objects, call a service, respond.

Importing the package registers all of them in HANDLERS.
"""

from marketplace.api.calls import HANDLERS
from marketplace.api.operations import assignments, hits, qualifications

__all__ = ["HANDLERS", "assignments", "hits", "qualifications"]
