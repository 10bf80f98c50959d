package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"text/tabwriter"
)

// printHeader writes the machine and the versions.
func printHeader(w io.Writer, r result) {
	if r.Machine.GPU != "" {
		fmt.Fprintf(w, "%s; ", r.Machine.GPU)
	}
	fmt.Fprintf(w, "%s, %d cores, %s; %v\n", r.Machine.CPU, r.Machine.Cores, r.Machine.System, r.Versions)
	if r.Machine.Caches != nil {
		fmt.Fprintln(w, r.Machine.caches())
	}
	if r.Machine.Limited != "" {
		fmt.Fprintf(w, "limited to %s, as are the others, except for onnxruntime, the tokenizers and the matrix multiplications of JAX\n", r.Machine.Limited)
	}
}

// printFigure writes the measurements of a benchmark, one line per runner.
func printFigure(w io.Writer, c benchCase, f figure) {
	fmt.Fprintf(w, "\n%s: %s\n", c.name, f.Description)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, key := range sortedKeys(f.Times) {
		s := f.Times[key]
		fmt.Fprintf(t, "  %s\t%s\t%s … %s\t%s\n", key, duration(s.Median), duration(s.Low), duration(s.High), f.rate(key)+f.joules(key))
	}
	_ = t.Flush() // written to the terminal like the lines above
	for _, key := range sortedKeys(f.Failed) {
		fmt.Fprintf(w, "  %s failed: %s\n", key, f.Failed[key])
	}
	for _, key := range sortedKeys(f.Disagrees) {
		fmt.Fprintf(w, "  %s is not compared, because its losses differ: %s\n", key, f.Disagrees[key])
	}
	if n := f.Counts; n != nil {
		fmt.Fprintf(w, "  a repeated step: %.3g launches, %.3g kernels, %.3g copies with %.0f bytes, %.3g allocations\n", n.Launches, n.Kernels, n.Copies, n.ToDevice+n.ToHost, n.Allocs)
	}
	for _, note := range f.Notes {
		fmt.Fprintf(w, "  note: %s\n", note)
	}
	for _, line := range comparisons(c, f) {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// rate returns the speed of a runner and its fraction of the peak.
func (f figure) rate(key string) string {
	seconds := f.Times[key].Median
	switch {
	case f.Samples > 0:
		return fmt.Sprintf("%.0f /s", float64(f.Samples)/seconds)
	case f.Flops == 0:
		return fmt.Sprintf("%.2f GB/s", f.Bytes/seconds/1e9)
	}
	text := fmt.Sprintf("%.0f GFLOP/s", f.Flops/seconds/1e9)
	if share := f.share(key); !math.IsNaN(share) {
		text += fmt.Sprintf(", %.1f %% of the peak", 100*share)
	}
	return text
}

// joules returns the energy of a step of a runner, if it was measured.
func (f figure) joules(key string) string {
	if power, ok := f.Watts[key]; ok {
		return fmt.Sprintf(", %.3g J", power*f.Times[key].Median)
	}
	return ""
}

// share returns the fraction of the peak that was measured with the same number of threads.
func (f figure) share(key string) float64 {
	parts := strings.Split(key, "-")
	if len(parts) < 2 {
		return math.NaN()
	}
	peak := f.Peak["quern-"+parts[1]]
	if peak == 0 {
		return math.NaN()
	}
	return f.Flops / f.Times[key].Median / peak
}

// fastest returns the fastest runner of a framework.
func (f figure) fastest(framework string) (key string, seconds float64) {
	seconds = math.Inf(1)
	for k, s := range f.Times {
		if strings.HasPrefix(k, framework) && (s.Median < seconds || s.Median == seconds && k < key) {
			key, seconds = k, s.Median
		}
	}
	return key, seconds
}

// comparisons compares Quern with the others and with its targets.
func comparisons(c benchCase, f figure) []string {
	var lines []string
	ours, seconds := f.fastest("quern")
	targets := map[string]float64{"torch": c.overTorch, "jax": c.overJAX}
	maps.Copy(targets, c.over)
	for _, other := range sortedKeys(targets) {
		key, theirs := f.fastest(other)
		if key == "" || ours == "" {
			continue
		}
		lines = append(lines, fmt.Sprintf("%.2f times as fast as %s%s", theirs/seconds, key, targetResult(theirs/seconds, targets[other], "%.2f")))
	}
	for i, target := range c.share {
		key := fmt.Sprintf("quern-%d", c.threads[i])
		if share := f.share(key); !math.IsNaN(share) {
			lines = append(lines, fmt.Sprintf("%.1f %% of the peak with %d threads%s", 100*share, c.threads[i], targetResult(100*share, 100*target, "%.0f %%")))
		}
	}
	if c.rate > 0 && ours != "" {
		rate := f.Bytes / seconds / 1e9
		lines = append(lines, fmt.Sprintf("%.2f GB/s%s", rate, targetResult(rate, c.rate/1e9, "%.0f GB/s")))
	}
	return lines
}

func targetResult(value, target float64, format string) string {
	switch text := fmt.Sprintf(format, target); {
	case target == 0:
		return ""
	case value >= target:
		return " (target " + text + ": reached)"
	default:
		return " (target " + text + ": MISSED)"
	}
}

// duration formats a time with three digits.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return fmt.Sprintf("%.4g µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.4g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.4g s", seconds)
}

func printComparison(w io.Writer, last result, worse []regression) {
	fmt.Fprintf(w, "\nagainst the run of %s: ", last.Date)
	if len(worse) == 0 {
		fmt.Fprintln(w, "nothing is more than 10 % slower")
		return
	}
	fmt.Fprintln(w, "slower by more than 10 %:")
	for _, r := range worse {
		fmt.Fprintf(w, "  %v\n", r)
	}
}
