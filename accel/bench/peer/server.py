"""Runs the benchmarks of PyTorch or JAX: reads requests from standard input, one JSON object per line, and answers each with one line.

usage: server.py torch|jax THREADS cpu|cuda|cuda:1|simulated

    {"do": "versions"}                                                     {"versions": {...}}
    {"do": "prepare", "bench": B, "setting": S, "model": M, "case": FILE}  {"losses": [...]}
    {"do": "run", "bench": B, "setting": S, "steps": N, "empty": BYTES}    {"seconds": T}
    {"do": "drop"}                                                         {}

An answer may be {"error": TEXT} instead, or {"missing": TEXT} if the framework cannot be imported. FILE.json lists the arrays of the
case, and FILE.bin has them consecutively as float32. The sizes of a model follow from the shapes of its parameters; prepare also has
"heads" of attention and "half" for bfloat16. With "empty", run changes so many bytes before each step, which empties the caches. Beside a simulated GPU a framework computes on the CPU.
"""

import gc
import json
import sys
import time

STEPS_CHECKED = 5


def arrays(case):
    """The arrays of a case by group: inputs and parameters, in order."""
    import numpy  # only needed together with torch or jax

    with open(case + ".json") as f:
        listed = json.load(f)
    numbers = numpy.fromfile(case + ".bin", dtype=numpy.float32)
    groups, at = {}, 0
    for a in listed:
        size = int(numpy.prod(a["shape"]))
        groups.setdefault(a["group"], []).append(numpy.array(numbers[at:at + size]).reshape(a["shape"]))
        at += size
    return groups


def answer(workloads, ready, request):
    if request["do"] == "versions":
        return {"versions": workloads.versions()}
    if request["do"] == "drop":
        ready.clear()
        gc.collect()
        workloads.free()
        return {}
    key = request["bench"], request.get("setting", "")
    if request["do"] == "prepare":
        work = ready[key] = workloads.prepare(request, arrays(request["case"]))
        losses = [work.value(work.step()) for _ in range(STEPS_CHECKED)]
        workloads.free()  # the memory that other processes need until this one is measured
        return {"losses": losses}
    work, last, seconds = ready[key], None, 0
    if request.get("empty"):
        for _ in range(request["steps"]):
            workloads.empty(request["empty"])
            start = time.perf_counter()
            work.wait(work.step())
            seconds += time.perf_counter() - start
        return {"seconds": seconds}
    start = time.perf_counter()
    for _ in range(request["steps"]):
        last = work.step()
    work.wait(last)
    return {"seconds": time.perf_counter() - start}


def main():
    name, threads, device = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    try:
        if name == "torch":
            import torch_workloads as workloads
        else:
            import jax_workloads as workloads
        workloads.start(threads, "cpu" if device == "simulated" else device)
    except (ImportError, RuntimeError) as e:
        print(json.dumps({"missing": str(e)}), flush=True)
        return
    ready = {}
    for line in sys.stdin:
        try:
            reply = answer(workloads, ready, json.loads(line))
        except Exception as e:  # the other process shows any error
            reply = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(reply), flush=True)


main()
