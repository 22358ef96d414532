"""``paddle_lab.check_cluster()``: whether the processes of a job fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle_lab.views.text.cluster_check import ClusterCheck


def check_cluster() -> ClusterCheck:
    """Check the set-up of a distributed job.

    Before ``paddle.distributed.init_parallel_env`` it looks at this process: the environment
    variables ``PADDLE_TRAINER_*``, the endpoints, whether another program listens at this rank's
    port, the backend and the device. Afterwards it also compares all ranks: their versions, their
    variables, and whether two use one GPU. Then all ranks must call it, because it is a collective.

    Raises
    ------
    PaddleUnavailableError
        If there is no PaddlePaddle, or one older than 3.3.
    """
    from paddle_lab.capture.ranks.rank_setup import gathered_setups
    from paddle_lab.views.text.cluster_check import ClusterCheck

    return ClusterCheck(gathered_setups())
