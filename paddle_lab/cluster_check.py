"""``paddle_lab.check_cluster()``: checks the set-up of all processes of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle_lab.views.text.run_tables import ClusterCheck


def check_cluster() -> ClusterCheck:
    """Check the set-up of a distributed job.

    Before ``paddle.distributed.init_parallel_env``, this function checks only this process: the
    environment variables ``PADDLE_TRAINER_*``, the endpoints, and whether another program uses this
    rank's port. Afterwards it also checks the device, and compares all ranks: their versions, their
    variables, and whether two ranks use one GPU. Then all ranks must call this function, because it
    uses a collective.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    """
    from paddle_lab.capture.ranks.rank_setup import gathered_setups
    from paddle_lab.views.text.run_tables import ClusterCheck

    return ClusterCheck(gathered_setups())
