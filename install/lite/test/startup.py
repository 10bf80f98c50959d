"""Measures how long a page that the browser has kept takes to its first result: make lite, then startup.py."""

import time

import server as site

with site.server() as served, site.browser() as driver:
    site.Notebook.open(driver, served.address, "first.ipynb", ["20 + 1"]).wait_copy()
    for _ in range(5):
        start = time.monotonic()
        notebook = site.Notebook.open(driver, served.address, "first.ipynb", connect=False)
        page = time.monotonic() - start
        assert notebook.run(0, 60) == "21"
        print(f"notebook shown after {page:.1f} s, result of the first cell after {time.monotonic() - start:.1f} s")
