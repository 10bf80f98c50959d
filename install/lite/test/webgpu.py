"""Measures matrix multiplications of float32 with WebGPU and with the kernel, in one browser: make lite, then webgpu.py [FLAG...].

FLAGs are flags of Chromium, or with BROWSER=firefox preferences to enable; by default those that a machine without a GPU needs.
"""

import os
import pathlib
import sys

import browsers
import lab
import server as site

SIZES = [128, 256, 512, 1024, 2048]
# Of each size, unless they take longer than SECONDS.
REPETITIONS, SECONDS = 5, 10
SOFTWARE = {
    "chromium": ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
    "firefox": ["dom.webgpu.enabled", "dom.webgpu.workers.enabled", "gfx.webgpu.ignore-blocklist"],
}

CELLS = ["""func times(n int) {
	a, b := tensor.Randn(nil, n, n), tensor.Randn(nil, n, n)
	a.Data()
	b.Data()
	ms := []float64{}
	for range %d {
		start := time.Now()
		a.MatMul(b).Data()
		ms = append(ms, time.Since(start).Seconds()*1000)
	}
	slices.Sort(ms)
	fmt.Println(ms[len(ms)/2])
}""" % REPETITIONS] + [f"times({n})" for n in SIZES]


def main():
    worker = pathlib.Path(__file__).with_name("webgpu.js").read_text()
    flags = sys.argv[1:] or SOFTWARE[site.BROWSER]
    with site.server() as served, browsers.start(site.BROWSER, 1280, 1600, extra=flags) as driver:
        notebook = site.Notebook.open(driver, served.address, "matmul.ipynb", CELLS)
        notebook.run(0)
        kernel = [float(notebook.run(i + 1, 300)) for i in range(len(SIZES))]
        driver.execute_script(
            "const [code, task] = arguments; const w = new Worker(URL.createObjectURL(new Blob([code]))); window.measured = [];"
            "w.onmessage = event => measured.push(event.data); w.onerror = event => measured.push({missing: event.message}); w.postMessage(task);",
            worker, [SIZES, REPETITIONS, SECONDS])

        def next_result(i):
            result = lab.wait_for(lambda: driver.execute_script("return measured[arguments[0]]", i), 600, "a result")
            if "missing" in result:
                sys.exit(f"no WebGPU: {result['missing']}")
            return result

        gpu = next_result(0)
        print(f"load {os.getloadavg()[0]:.1f}, {driver.capabilities['browserName']} {driver.capabilities['browserVersion']}, {' '.join(flags)}\n"
              f"adapter {gpu['vendor']} {gpu['architecture']} {gpu['description']}, software: {gpu['fallback']}, "
              f"WebAssembly.Suspending: {gpu['suspending']}, round trip {gpu['roundTrip']:.2f} ms\n"
              "n: upload, multiplication with shared memory and without, download, all with the faster multiplication, the kernel of the page, in ms (GFLOP/s)")
        for i, (n, ms) in enumerate(zip(SIZES, kernel)):
            row = next_result(i + 1)
            rate = lambda t: f"{t:.2f} ({2 * n**3 / t / 1e6:.1f})"
            every = row["upload"] + min(row["shared"], row["direct"]) + row["download"]
            print(f"{n}: {row['upload']:.2f}, {rate(row['shared'])}, {rate(row['direct'])}, {row['download']:.2f}, {rate(every)}, {rate(ms)}", flush=True)


main()
