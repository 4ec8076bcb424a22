"""How a run is shared out among several workers: `pytest -n 2`."""

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

__all__ = ["ByFile"]

BROWSERS = "tests/e2e/"
# Its targets live as long as the session, and each is started once if one worker has all of it.
IN_ONE_PIECE = "tests/conformance/"
# Many small files, which even out the end.
LAST = ("tests/dynamo/", "tests/table/")


class ByFile(LoadScopeScheduling):
    """Whole files, the long ones first; browsers on half of the workers, as each keeps more than one core busy."""

    def _split_scope(self, nodeid: str) -> str:
        return IN_ONE_PIECE if nodeid.startswith(IN_ONE_PIECE) else nodeid.partition("::")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=lambda piece: self._turn(piece, node)), last=False)
        super()._assign_work_unit(node)

    def _turn(self, piece: str, node: WorkerController) -> tuple[int, int]:
        """What comes before what, on this worker."""
        if piece.startswith(BROWSERS):
            place = 0 if self.nodes.index(node) < max(1, len(self.nodes) // 2) else 4
        elif piece == IN_ONE_PIECE:
            place = 1
        else:
            place = 3 if piece.startswith(LAST) else 2
        return place, -len(self.workqueue[piece])
