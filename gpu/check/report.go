package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/gpu"
)

// report is a run, as it is kept.
type report struct {
	Date      string            `json:"date"`
	Device    string            `json:"device"`
	Name      string            `json:"name"` // of the GPU
	GPUs      []tensor.GPU      `json:"gpus"`
	Driver    string            `json:"driver"`
	Processor string            `json:"processor"`
	Go        string            `json:"go"`
	Versions  map[string]string `json:"versions,omitempty"` // of PyTorch
	Quick     bool              `json:"quick,omitempty"`
	FirstUse  float64           `json:"first_use"` // seconds until the first result
	Ops       []checked         `json:"ops"`
	Wrong     int               `json:"wrong"`
	Benches   []measured        `json:"benches"`
	Problems  []string          `json:"problems"`
}

// checked is an op that was compared.
type checked struct {
	Op         string  `json:"op"`
	Autocast   bool    `json:"autocast"`
	Difference float64 `json:"difference"` // largest, as a share of the tensor's largest value
	Tolerance  float64 `json:"tolerance"`
	Error      string  `json:"error,omitempty"`
}

// measured is a bench.
type measured struct {
	Bench     string             `json:"bench"`
	Words     string             `json:"words"`
	Samples   int                `json:"samples,omitempty"` // of a step: images, or tokens
	Flops     float64            `json:"flops,omitempty"`   // of a product
	FirstLoss float64            `json:"first_loss,omitempty"`
	LastLoss  float64            `json:"last_loss,omitempty"`
	Flushes   float64            `json:"flushes,omitempty"` // lists of ops a step: graphs
	NewPlans  int                `json:"new_plans"`         // in repeated steps
	Syncs     int                `json:"syncs"`             // in repeated steps
	Seconds   map[string]float64 `json:"seconds"`           // of a step, by engine
}

// describe finds out what machine this is.
func (r *report) describe(device string) {
	host := gpu.Host()
	r.Processor, r.Go, r.Name = host.Name(), runtime.Version(), device
	host.Close()
	if device == "simulated" {
		return
	}
	if list, err := tensor.GPUs(); err == nil {
		r.GPUs = list
		for _, g := range list {
			if g.Device == device || device == "cuda" && r.Name == device {
				r.Name = g.Name
			}
		}
	}
	if text, err := exec.Command("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").Output(); err == nil {
		r.Driver, _, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	}
}

func (r *report) printMachine(out io.Writer) {
	fmt.Fprintf(out, "device     %s (%s)\n", r.Device, r.Name)
	for _, g := range r.GPUs {
		fmt.Fprintf(out, "           %s %s, compute capability %s, %d multiprocessors, %.1f GiB\n", g.Device, g.Name, g.Capability, g.Processors, float64(g.Memory)/(1<<30))
	}
	if r.Driver != "" {
		fmt.Fprintf(out, "driver     %s\n", r.Driver)
	}
	fmt.Fprintf(out, "processor  %s\nfirst use  %.2f s\n", r.Processor, r.FirstUse)
}

// add keeps a comparison, and prints it if it is wrong.
func (r *report) add(c checked, out io.Writer) {
	if c.Error != "" || !(c.Difference <= c.Tolerance) {
		r.Wrong++
		how := ""
		if c.Autocast {
			how = " with autocast"
		}
		if c.Error == "" {
			c.Error = fmt.Sprintf("off by %.2g of the largest value, %.2g is allowed", c.Difference, c.Tolerance)
		}
		fmt.Fprintf(out, "WRONG %s%s: %s\n", c.Op, how, c.Error)
	}
	if math.IsNaN(c.Difference) || math.IsInf(c.Difference, 0) {
		c.Difference = -1 // JSON has neither
	}
	r.Ops = append(r.Ops, c)
}

// join adds PyTorch's times.
func (r *report) join(f foreign) {
	r.Versions = f.Versions
	r.Problems = append(r.Problems, f.Problems...)
	for i := range r.Benches {
		for variant, s := range f.Seconds[r.Benches[i].Bench] {
			r.Benches[i].Seconds[variant] = s
		}
	}
}

// variants are the columns of the table.
var variants = []string{"quern", "eager", "compiled", "graph"}

func (r *report) printBenches(out io.Writer) {
	fmt.Fprintf(out, "\n%-55s %12s %12s %12s %12s %14s\n", "µs a step", "quern", "eager", "compiled", "graph", "quern's rate")
	for _, m := range r.Benches {
		fmt.Fprintf(out, "%-55s", m.Words)
		for _, v := range variants {
			if s, ok := m.Seconds[v]; ok {
				fmt.Fprintf(out, " %12.1f", s*1e6)
			} else {
				fmt.Fprintf(out, " %12s", "-")
			}
		}
		if m.Flops > 0 {
			fmt.Fprintf(out, " %9.3g TFLOP/s\n", m.Flops/m.Seconds["quern"]/1e12)
		} else {
			fmt.Fprintf(out, " %12.0f /s\n", float64(m.Samples)/m.Seconds["quern"])
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(out, "note: %s\n", p)
	}
}

var plainName = regexp.MustCompile(`[^a-z0-9]+`)

// save writes the report, and gives its path.
func (r *report) save(folder string) (string, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	name := r.Date[:10] + "-" + strings.Trim(plainName.ReplaceAllString(strings.ToLower(r.Name), "-"), "-")
	path := filepath.Join(folder, name+".json")
	return path, os.WriteFile(path, append(text, '\n'), 0o644)
}
