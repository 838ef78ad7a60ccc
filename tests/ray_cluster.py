"""A real Ray cluster on this machine, in a process of its own; its nodes can be killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

# Each line that it reads loses a node or adds one; the end of the lines ends the cluster.
NODES = r"""
import sys
from ray.cluster_utils import Cluster

small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
head = small | {"include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=head)
try:
    nodes = [cluster.add_node(**small) for _ in range(int(sys.argv[1]) - 1)]
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line.strip() == "lose":
            cluster.remove_node(nodes.pop(), allow_graceful=False)
        else:
            nodes.append(cluster.add_node(**small))
        print("done", flush=True)
finally:
    cluster.shutdown()
"""


class RayCluster:
    """A cluster of so many nodes with one CPU each: ``with RayCluster(3) as cluster``."""

    def __init__(self, nodes: int) -> None:
        pytest.importorskip("ray")
        # Not pytest's own folder: the paths of sockets must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="cfr-ray-"))
        # Ray lets its workers give way to everything else on a machine, also to other tests.
        own = {"RAY_worker_niceness": "0", "RAY_usage_stats_enabled": "0"}
        own["RAY_TMPDIR"] = str(self.folder)
        path = os.pathsep.join(filter(None, sys.path))
        self._said = (self.folder / "said").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-c", NODES, str(nodes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            bufsize=1,
            env={**os.environ, **own, "PYTHONPATH": path},
        )
        self.address = ""

    def __enter__(self) -> RayCluster:
        self.address = self._line()
        if not self.address:
            said = (self.folder / "said").read_text()
            self.__exit__()
            pytest.fail(f"no cluster could be started: {said[-2_000:]}")
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        finally:
            self._said.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def lose_node(self) -> None:
        """Kill a node with all that runs on it."""
        self._order("lose")

    def add_node(self) -> None:
        """Add a node."""
        self._order("add")

    def _order(self, what: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(what + "\n")
        assert self._line() == "done"

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()
