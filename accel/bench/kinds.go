package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// avx2 names the kernels of a CPU without AVX-512.
const avx2 = "AVX2"

// limited returns the instruction set to which a variable such as GODEBUG=cpu.avx512f=off limits a CPU that has more, or "".
func limited(features []string, kernels string) string {
	if slices.Contains(features, "avx512f") && kernels == avx2 {
		return avx2
	}
	return ""
}

// cpuInfo returns what the system reports of the first CPU, by name; nil if it does not.
func cpuInfo() map[string]string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n\n")
	info := map[string]string{}
	for line := range strings.Lines(first) {
		name, value, _ := strings.Cut(line, ":")
		info[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return info
}

// cpuFeatures returns the flags of the CPU, if the system reports them.
func cpuFeatures() []string { return strings.Fields(cpuInfo()["flags"]) }

// limits are the variables that limit the other frameworks to AVX2, too. There is none for onnxruntime, the tokenizers, and the library
// that multiplies matrices in JAX (YNNPACK), which asks the CPU itself: --xla_cpu_max_isa only limits the code that XLA compiles.
func (m machine) limits() []string {
	if m.Limited != avx2 {
		return nil
	}
	return []string{"ONEDNN_MAX_CPU_ISA=AVX2", "ATEN_CPU_CAPABILITY=avx2", "MKL_ENABLE_INSTRUCTIONS=AVX2", "ARROW_USER_SIMD_LEVEL=AVX2",
		"XLA_FLAGS=" + strings.TrimSpace(os.Getenv("XLA_FLAGS")+" --xla_cpu_max_isa=AVX2")}
}

// hugePages says whether the system grants huge pages for a tensor of 32 MiB.
func hugePages() string {
	d := cpu.New(1)
	defer d.Close()
	s, err := d.Alloc(32 << 20)
	if err != nil {
		return "unknown"
	}
	clear(d.Bytes(s))
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	runtime.KeepAlive(s)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "AnonHugePages:"); ok {
			kilobytes, _ := strconv.Atoi(strings.Fields(value)[0]) // 0 if it is no number
			if kilobytes >= 16<<10 {
				return "granted"
			}
			return "not granted"
		}
	}
	return "unknown"
}

func (m machine) caches() string {
	c := m.Caches
	if c == nil {
		return "caches unknown"
	}
	return fmt.Sprintf("L1 %d KiB, L2 %d KiB, L3 %d MiB, huge pages %s", c.L1.Size>>10, c.L2.Size>>10, c.L3.Size>>20, m.HugePages)
}

// printKinds compares the committed results of all CPUs.
func printKinds(w io.Writer, folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	var all []result
	names := map[string]bool{}
	for _, path := range paths {
		r, err := load(path)
		if err != nil {
			return err
		}
		if r.Machine.GPU != "" {
			continue
		}
		all = append(all, r)
		for name := range r.Figures {
			names[name] = true
		}
		fmt.Fprintf(w, "%d  %s %s, %s, %s, %s\n", len(all), r.Machine.CPU, r.Machine.Limited, r.Versions["kernels"], r.Machine.caches(), r.Date)
	}
	if len(all) == 0 {
		return fmt.Errorf("no results in %s", folder)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\ncase\t")
	for i := range all {
		fmt.Fprintf(t, "%d: time\tshare\tbeside\t", i+1)
	}
	for _, name := range sortedKeys(names) {
		fmt.Fprintf(t, "\n%s\t", name)
		for _, r := range all {
			f := r.Figures[name]
			ours, seconds := f.fastest("quern")
			if ours == "" {
				fmt.Fprint(t, "\t\t\t")
				continue
			}
			share := ""
			if s := f.share(ours); f.Flops > 0 && !math.IsNaN(s) {
				share = fmt.Sprintf("%.1f %%", 100*s)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t", duration(seconds), share, f.beside(seconds))
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// beside returns how much faster Quern is than the fastest runner of each other framework.
func (f figure) beside(seconds float64) string {
	var list []string
	for _, other := range append([]string{"torch", "jax"}, programs...) {
		if key, theirs := f.fastest(other); key != "" {
			list = append(list, fmt.Sprintf("%s %.2f", other, theirs/seconds))
		}
	}
	return strings.Join(list, ", ")
}
