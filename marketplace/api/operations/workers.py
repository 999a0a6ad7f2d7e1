"""Operations that block workers."""

from typing import Any

from marketplace.models import WorkerBlock
from marketplace.services import workers

from ..lookups import find_worker
from ..paging import listing
from ..registry import Call, operation


@operation("CreateWorkerBlock")
def create_worker_block(call: Call) -> dict[str, Any]:
    workers.block_worker(
        requester=call.requester,
        worker=find_worker(call.params["WorkerId"]),
        reason=call.params["Reason"],
        at=call.at,
    )
    return {}


@operation("DeleteWorkerBlock")
def delete_worker_block(call: Call) -> dict[str, Any]:
    workers.unblock_worker(requester=call.requester, worker=find_worker(call.params["WorkerId"]))
    return {}


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call) -> dict[str, Any]:
    return listing(
        call.requester.worker_blocks.select_related("worker"),
        call.params,
        name="WorkerBlocks",
        about=call.about(),
        shape=_block_shape,
    )


def _block_shape(block: WorkerBlock) -> dict[str, Any]:
    return {"WorkerId": block.worker.public_id, "Reason": block.reason}
