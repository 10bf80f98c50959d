package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/benchfile"
)

// longest is the number of kernels that Nsight Compute measures.
const longest = 5

// longestKernels returns the names of the kernels that take most of a step, the longest first. A
// call of a library stands for its kernels, which have other names.
func longestKernels(p benchfile.Profile) (names []string, library bool) {
	for _, row := range p.Rows { // in the order of their times
		for name := range strings.SplitSeq(row.Kernels, " + ") {
			switch {
			case strings.HasPrefix(name, "cuBLASLt"), strings.HasPrefix(name, "cuDNN"):
				library = true
			case len(names) < longest && !slices.Contains(names, name):
				names = append(names, name)
			}
		}
	}
	return names, library
}

// libraryKernels matches the names of the kernels of NVIDIA's libraries.
const libraryKernels = ".*(nvjet|cutlass|cublas|cudnn|xmma|gemm|splitK).*"

// ncuMetrics are the metrics of Nsight Compute, by the field of measured.
var ncuMetrics = []string{
	"gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
	"sm__warps_active.avg.pct_of_peak_sustained_active", "launch__registers_per_thread", "launch__waves_per_multiprocessor",
	"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "l1tex__data_bank_conflicts_pipe_lsu.sum",
}

// measured is a launch of a kernel as Nsight Compute measured it.
type measured struct {
	Kernel  string            `json:"kernel"`
	Launch  string            `json:"launch"`  // grid and block
	Metrics map[string]string `json:"metrics"` // with their units
}

// runNCU measures the longest kernels of GPT-2 with Nsight Compute.
func runNCU(ctx context.Context, o options, r *report, out io.Writer) error {
	ncu := findTool("ncu")
	if ncu == "" {
		return &missingError{"ncu is not installed"}
	}
	bench, err := o.program(benchProgram)
	if err != nil {
		return err
	}
	own, cancel := share(ctx, 2)
	p, err := o.profile(own, "gpt2", out)
	cancel()
	if err != nil {
		return fmt.Errorf("the profile that names the kernels: %w", err)
	}
	names, library := longestKernels(p)
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	if library {
		names = append(names, libraryKernels)
	}
	log := filepath.Join(o.out, "ncu.csv") // the whole output, for kernels whose rows are not understood
	args := []string{"--target-processes", "all", "--clock-control", "none", "--kernel-name", "regex:^(" + strings.Join(names, "|") + ")$",
		"--filter-mode", "per-launch-config", "--launch-count", "1", "--metrics", strings.Join(ncuMetrics, ","), "--csv", "--page", "raw", "--log-file", log,
		bench, "-device", o.device, "-bench", "gpt2", "-steps", "1"}
	if o.quick {
		args = append(args, "-quick")
	}
	command, said := external(ctx, ncu, args...)
	command.Stdout = said
	err = command.Run()
	if err != nil {
		err = fmt.Errorf("ncu: %w: %s", err, said)
	}
	text, readErr := os.ReadFile(log)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	if r.NCU, readErr = parseNCU(string(text)); readErr == nil && len(r.NCU) == 0 {
		readErr = fmt.Errorf("ncu measured none of %q: %s", names, said)
	}
	fmt.Fprintf(out, "%d launches of kernels measured, all of %s\n", len(r.NCU), log)
	return errors.Join(err, readErr)
}

// parseNCU reads the output of ncu --csv --page raw: messages, a row of names, one of units, and a
// row for each launch.
func parseNCU(text string) (all []measured, err error) {
	at := strings.Index(text, `"ID"`)
	if at < 0 {
		return nil, nil
	}
	rows := csv.NewReader(strings.NewReader(text[at:]))
	rows.FieldsPerRecord, rows.LazyQuotes = -1, true
	table, err := rows.ReadAll()
	if err != nil || len(table) < 2 {
		return nil, err
	}
	names, units := table[0], table[1]
	for _, row := range table[2:] {
		if len(row) != len(names) || len(units) != len(names) {
			continue // a message between the rows
		}
		m := measured{Metrics: map[string]string{}}
		for i, name := range names {
			switch {
			case name == "Kernel Name":
				m.Kernel = row[i]
			case name == "Block Size" || name == "Grid Size":
				m.Launch = strings.TrimSpace(m.Launch + " " + row[i])
			case slices.Contains(ncuMetrics, name):
				m.Metrics[name] = strings.TrimSpace(row[i] + " " + units[i])
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// sanitized are the small models that run under compute-sanitizer.
var sanitized = []string{"mlp", "gpt", "resnet9", "lstm"}

// sanitize runs small models under compute-sanitizer.
func sanitize(ctx context.Context, o options, r *report, out io.Writer) error {
	program := findTool("compute-sanitizer")
	if program == "" {
		return &missingError{"compute-sanitizer is not installed"}
	}
	var failed error
	for i, name := range sanitized {
		own, cancel := share(ctx, len(sanitized)-1-i)
		line, err := o.sanitize(own, program, name)
		cancel()
		r.Sanitizer = append(r.Sanitizer, line)
		fmt.Fprintln(out, line)
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			return failed
		}
		if err := r.write(o.result); err != nil {
			return err
		}
	}
	return failed
}

// sanitize runs one model and returns the last line of the tool's output.
func (o options) sanitize(ctx context.Context, program, name string) (line string, err error) {
	folder, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	o.models, o.from, o.pieceLimit, o.quick = name, 0, 10*o.pieceLimitOf(), true
	command, said, err := o.process(ctx, "smoke", filepath.Join(folder, "part.json"))
	if err != nil {
		return "", err
	}
	command.Args = append([]string{program, "--tool", "memcheck", "--error-exitcode", "9", command.Path}, command.Args[1:]...)
	command.Path = program
	command.Stdout = said
	failed := command.Run()
	lines := strings.Split(said.String(), "\n")
	line = name + ": " + lines[len(lines)-1]
	if failed != nil {
		return line, fmt.Errorf("compute-sanitizer, %s: %w: %s", name, failed, said)
	}
	return line, nil
}
