package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/install"
	"github.com/quernlab/quern/interp"
)

const doctorUsage = `quern doctor checks what works on this machine.

  quern doctor
  quern doctor --json   print the result as JSON

The exit status is 1 if a problem prevents the kernel from working.
`

// finding is the result of checking one subject.
type finding struct {
	Subject string `json:"subject"`
	Status  status `json:"status"`
	Detail  string `json:"detail"`
}

// status distinguishes what is only missing from what must be fixed.
type status string

const (
	fine    status = "ok"
	note    status = "note"
	problem status = "problem"
)

// errUnhealthy makes doctor exit with status 1. The findings have the reasons.
var errUnhealthy = errors.New("the kernel does not work until the problems above are fixed")

func runDoctor(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	if err := parse(flags, doctorUsage, args, std); err != nil {
		return err
	}
	findings := examine(ctx)
	if *asJSON {
		enc := json.NewEncoder(std.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(std.out, "%-8s %-11s %s\n", f.Status, f.Subject, f.Detail)
		}
	}
	for _, f := range findings {
		if f.Status == problem {
			return errUnhealthy
		}
	}
	return nil
}

func examine(ctx context.Context) []finding {
	findings := []finding{
		{"quern", fine, fmt.Sprintf("%s %s/%s %s", buildVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())},
		examineInterpreter(ctx),
		examineJupyter(ctx),
	}
	findings = append(findings, examineKernelspecs(ctx)...)
	cuda := examineCUDA()
	findings = append(findings, examineGPU(), cuda)
	for _, library := range examineLibraries() {
		// Without a GPU, the libraries are not needed.
		if cuda.Status == fine || library.Status == fine {
			findings = append(findings, library)
		}
	}
	return append(findings, examineHost())
}

// examineInterpreter runs a cell that needs the type checker, the lowering and the
// interpreter.
func examineInterpreter(ctx context.Context) finding {
	const cell = `strings.Join(slices.Sorted(maps.Keys(map[string]int{"b": 1, "a": 2})), "")`
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	start := time.Now()
	session, err := interp.New()
	if err != nil {
		return finding{"interpreter", problem, err.Error()}
	}
	defer session.Close()
	result, err := session.Execute(ctx, 1, cell)
	if err != nil {
		return finding{"interpreter", problem, err.Error()}
	}
	if got := result.Data["text/plain"]; got != `"ab"` {
		return finding{"interpreter", problem, fmt.Sprintf("a cell returned %v, want \"ab\"", got)}
	}
	return finding{"interpreter", fine, fmt.Sprintf("starts and runs a cell in %d ms", time.Since(start).Milliseconds())}
}

func examineJupyter(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	path, err := exec.LookPath("jupyter")
	if err != nil {
		return finding{"jupyter", note, "not on PATH; activate its environment or run pip install jupyterlab"}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return finding{"jupyter", note, fmt.Sprintf("%s does not run: %v", path, err)}
	}
	for line := range strings.Lines(string(out)) {
		if name, version, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "jupyterlab" {
			return finding{"jupyter", fine, fmt.Sprintf("%s, JupyterLab %s", path, strings.TrimSpace(version))}
		}
	}
	return finding{"jupyter", fine, path}
}

func examineKernelspecs(ctx context.Context) []finding {
	var findings []finding
	for _, spec := range install.Find(ctx) {
		f := finding{"kernelspec", fine, spec.Name + " in " + spec.Dir}
		if spec.Problem != "" {
			f.Status, f.Detail = problem, f.Detail+": "+spec.Problem
		}
		findings = append(findings, f)
	}
	if len(findings) == 0 {
		findings = []finding{{"kernelspec", problem, "none; run quern install"}}
	}
	return findings
}

func examineGPU() finding {
	devices, err := gpu.Devices()
	if err != nil {
		return finding{"gpu", note, fmt.Sprintf("%v; training runs on the CPU", err)}
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.Name()
		d.Close()
	}
	return finding{"gpu", fine, strings.Join(names, ", ")}
}

// examineCUDA reports whether training can run on a GPU, which needs more than NVML.
func examineCUDA() finding {
	devices := accel.Devices()
	if devices.Missing != "" {
		return finding{"cuda", note, devices.Missing}
	}
	const gibibyte = 1 << 30
	var list []string
	for _, g := range devices.GPUs {
		list = append(list, fmt.Sprintf("%s %s, compute capability %s, %d multiprocessors, %.1f GiB memory",
			g.Device, g.Name, g.Capability, g.SMs, float64(g.Memory)/gibibyte))
	}
	return finding{"cuda", fine, strings.Join(list, "; ")}
}

// examineLibraries reports which of NVIDIA's libraries a GPU would use, and why others
// are not used.
func examineLibraries() []finding {
	var findings []finding
	for _, l := range accel.Devices().Libraries {
		f := finding{"libraries", fine, l.String()}
		if l.Unused != "" {
			f.Status = note
		}
		findings = append(findings, f)
	}
	return findings
}

func examineHost() finding {
	host := gpu.Host()
	defer host.Close()
	sample := host.Sample()
	const gibibyte = 1 << 30
	return finding{"cpu", fine, fmt.Sprintf("%s, %.1f GiB memory, kernels %s", host.Name(), sample.MemTotal/gibibyte, accel.Devices().CPUKernels)}
}
