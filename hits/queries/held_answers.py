"""The answers of held payments, as pages and the API show them."""

from hits.mturk.answers import shown_answer
from qualcontrol.models import HeldPayment


def answer_held(held: HeldPayment) -> str:
    """What the worker submitted and fits no task, with the pseudonym in place of the worker's id.
    Needs the assignment with its account, and the worker."""
    text = shown_answer(held.assignment.unplaced_answer)
    return text.replace(held.assignment.account.marketplace_id, held.worker.pseudonym)
