"""Runs the cells of bench.ipynb three times in a browser, on the site, and prints the least time of each: make lite, then bench_site.py."""

import json
import pathlib

import server as site

NOTEBOOK = json.loads(pathlib.Path(__file__).with_name("bench.ipynb").read_text())
CELLS = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]

least = {}  # what a cell prints, by its name: the time in ms is at the end
with site.server() as served, site.browser() as driver:
    notebook = site.Notebook.open(driver, served.address, "bench.ipynb", CELLS)
    for _ in range(3):
        for i in range(len(CELLS)):
            text = notebook.run(i, 300)
            if text.endswith(" ms"):
                name, time = text.removesuffix(" ms").rsplit(maxsplit=1)
                least[name] = min(least.get(name, 10**9), int(time))
for name, time in least.items():
    print(f"{name:<34} {time:8} ms")
