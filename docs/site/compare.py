"""Measure Jupyter kernels as a client sees them: python compare.py quern python3 …

Each kernel is started five times; the table has the best and the median of the starts, and percentiles of
200 small cells. The numbers of docs/site/pages/comparison.md come from here.
"""

import statistics
import sys
import time

import psutil
from jupyter_client.manager import KernelManager

CELLS = {
    "go": ("x := 1", 'for i := 0; i < 100000; i++ { fmt.Println("line", i) }'),
    "python": ("x = 1", "for i in range(100000): print('line', i)"),
}


def execute(client, code):
    """Run a cell; return the time until the kernel is idle again and the lines that it printed."""
    begin = time.perf_counter()
    request, lines = client.execute(code), 0
    while True:
        message = client.get_iopub_msg(timeout=120)
        if message["parent_header"].get("msg_id") != request:
            continue
        content = message["content"]
        if message["msg_type"] == "stream":
            lines += content["text"].count("\n")
        if message["msg_type"] == "error":
            raise RuntimeError(content["evalue"])
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            break
    seconds = time.perf_counter() - begin
    client.get_shell_msg(timeout=120)
    return seconds, lines


def memory(pid):
    process = psutil.Process(pid)
    return sum(p.memory_info().rss for p in [process, *process.children(recursive=True)]) / 2**20


def measure(name):
    starts, firsts, cells, prints, used = [], [], [], [], []
    for _ in range(5):
        begin = time.perf_counter()
        manager = KernelManager(kernel_name=name)
        manager.start_kernel()
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        starts.append(time.perf_counter() - begin)
        language = client.kernel_info(reply=True, timeout=60)["content"]["language_info"]["name"]
        small, many = CELLS[language]
        firsts.append(execute(client, small)[0])
        cells += [execute(client, small)[0] for _ in range(200)]
        used.append(memory(manager.provisioner.pid))
        seconds, lines = execute(client, many)
        if lines != 100000:
            raise RuntimeError(f"{name}: {lines} of 100000 lines arrived before idle")
        prints.append(seconds)
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    cells.sort()
    return [
        f"{min(starts) * 1000:.0f} / {statistics.median(starts) * 1000:.0f} ms",
        f"{min(firsts) * 1000:.1f} ms",
        f"{statistics.median(cells) * 1000:.2f} ms",
        f"{cells[len(cells) * 95 // 100] * 1000:.2f} ms",
        f"{min(prints):.2f} s",
        f"{statistics.median(used):.0f} MiB",
    ]


ROWS = ["start until ready, best / median", "first small cell", "small cell, median", "small cell, 95th percentile",
        "100 000 printed lines", "memory after 201 cells"]  # fmt: skip

if __name__ == "__main__":
    columns = [measure(name) for name in sys.argv[1:]]
    print("| | " + " | ".join(sys.argv[1:]) + " |\n|---|" + "---|" * len(columns))
    for i, row in enumerate(ROWS):
        print(f"| {row} | " + " | ".join(column[i] for column in columns) + " |")
