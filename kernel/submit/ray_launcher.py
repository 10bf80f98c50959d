"""Starts the ranks of a notebook as actors of Ray: launcher.py RANKS GPUS COMMAND, a JSON list."""

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

# How long the other ranks may take to fail by themselves, with a better error, after one has.
GRACE = 15


@ray.remote
class Rank:
    def address(self):
        with socket.socket() as free:
            free.bind(("", 0))
            return ray.util.get_node_ip_address(), free.getsockname()[1]

    def run(self, command, variables):
        """Yields the lines that the rank prints, and at last its exit status."""
        process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, text=True, errors="replace")
        for line in process.stdout:
            yield line
        yield process.wait()


def main():
    ranks, gpus, command = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    ray.init(logging_level="warning")
    # All ranks start or none.
    group = placement_group([{"CPU": 1, "GPU": gpus} if gpus else {"CPU": 1}] * ranks, strategy="PACK")
    if not group.wait(60):
        print(f"waiting for {ranks} ranks with 1 CPU and {gpus} GPUs each; the cluster has {ray.cluster_resources()}", flush=True)
    ray.get(group.ready())
    actors = [Rank.options(num_cpus=1, num_gpus=gpus, scheduling_strategy=PlacementGroupSchedulingStrategy(group, rank)).remote()
              for rank in range(ranks)]
    address, port = ray.get(actors[0].address.remote())
    shared = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": address, "MASTER_PORT": str(port), "QUERN_PARALLEL_SECRET": secrets.token_hex(32)}
    statuses, ends = {}, {rank: [] for rank in range(ranks)}

    def follow(rank):
        status = 1
        try:
            for reference in actors[rank].run.options(num_returns="streaming").remote(command, {**shared, "RANK": str(rank)}):
                part = ray.get(reference)
                if isinstance(part, int):
                    status = part
                elif rank == 0:
                    print(part, end="", flush=True)
                else:
                    ends[rank] = ends[rank][-19:] + [part]
        except Exception as error:  # the actor was lost
            ends[rank].append(f"{error}\n")
        statuses[rank] = status

    for rank in range(ranks):
        threading.Thread(target=follow, args=(rank,), daemon=True).start()
    failed = None
    while len(statuses) < ranks:
        time.sleep(0.1)
        if failed is None and any(statuses.copy().values()):
            failed = time.monotonic()
        if failed is not None and time.monotonic() - failed > GRACE:
            break
    wrong = [rank for rank in range(ranks) if statuses.get(rank) != 0]
    for rank in wrong:
        if rank in statuses:
            print(f"rank {rank} failed with status {statuses[rank]}\n" + "".join(ends[rank]), end="", flush=True)
        else:
            print(f"rank {rank} was ended, since another one had failed", flush=True)
    sys.stdout.flush()
    sys.exit(1 if wrong else 0)


main()
