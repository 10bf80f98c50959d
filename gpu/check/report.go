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

// report is the result of a run.
type report struct {
	Date      string       `json:"date"`
	Device    string       `json:"device"`
	Name      string       `json:"name"` // of the GPU
	GPUs      []tensor.GPU `json:"gpus"`
	Driver    string       `json:"driver"`
	CPU       string       `json:"processor"`
	Go        string       `json:"go"`
	Quick     bool         `json:"quick,omitempty"`
	Libraries []string     `json:"libraries,omitempty"`
	Missing   string       `json:"missing,omitempty"` // why there is no GPU
	FirstUse  float64      `json:"first_use"`         // seconds until the first result
	Ops       []checked    `json:"ops"`
	Wrong     int          `json:"wrong"`
	Ranks     []trained    `json:"ranks"`
	Problems  []string     `json:"problems"`

	Kernels        []tested `json:"kernels,omitempty"`
	KernelsWrong   int      `json:"kernels_wrong"`
	KernelsSkipped int      `json:"kernels_skipped,omitempty"`

	Sanitizer []string `json:"sanitizer,omitempty"` // summary of each tool of compute-sanitizer

	// Progress of a part whose process ended early: the index of the next piece, and the piece
	// that was running.
	Next    int    `json:"next,omitempty"`
	Running string `json:"running,omitempty"`

	Ceilings *ceilings          `json:"ceilings,omitempty"`
	Profile  string             `json:"profile,omitempty"`
	Seconds  map[string]float64 `json:"seconds"` // of each part
}

// take merges the report of a part.
func (r *report) take(own report) {
	if own.FirstUse > 0 {
		r.FirstUse = own.FirstUse
	}
	if own.Ceilings != nil {
		r.Ceilings = own.Ceilings
	}
	if own.Profile != "" {
		r.Profile = own.Profile
	}
	r.Ops, r.Wrong = append(r.Ops, own.Ops...), r.Wrong+own.Wrong
	r.Kernels, r.KernelsWrong, r.KernelsSkipped = append(r.Kernels, own.Kernels...), r.KernelsWrong+own.KernelsWrong, r.KernelsSkipped+own.KernelsSkipped
	r.Problems = append(r.Problems, own.Problems...)
	r.Sanitizer = append(r.Sanitizer, own.Sanitizer...)
	r.Ranks = append(r.Ranks, own.Ranks...)
}

// problem records what could not be done.
func (r *report) problem(out io.Writer, format string, values ...any) {
	words := strings.TrimSpace(fmt.Sprintf(format, values...))
	r.Problems = append(r.Problems, words)
	fmt.Fprintf(out, "note: %s\n", words)
}

// checked is the comparison of one op.
type checked struct {
	Op         string  `json:"op"`
	Device     string  `json:"device,omitempty"` // if it is not the device of the report
	Autocast   bool    `json:"autocast"`
	Difference float64 `json:"difference"` // largest difference, relative to the tensor's largest value
	Tolerance  float64 `json:"tolerance"`
	Error      string  `json:"error,omitempty"`
}

// describe collects the properties of the machine.
func (r *report) describe(device string) {
	host := gpu.Host()
	r.CPU, r.Go, r.Name = host.Name(), runtime.Version(), device
	host.Close()
	if strings.HasPrefix(device, "simulated") {
		return
	}
	for _, l := range tensor.Libraries() {
		r.Libraries = append(r.Libraries, l.String())
	}
	list, err := tensor.GPUs()
	if err != nil {
		r.Missing = err.Error()
	} else {
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
		fmt.Fprintf(out, "           %s %s, compute capability %s, %d SMs, %.1f GiB\n", g.Device, g.Name, g.Capability, g.SMs, float64(g.Memory)/(1<<30))
	}
	if r.Driver != "" {
		fmt.Fprintf(out, "driver     %s\n", r.Driver)
	}
	for _, l := range r.Libraries {
		fmt.Fprintf(out, "library    %s\n", l)
	}
	fmt.Fprintf(out, "CPU        %s\n", r.CPU)
}

// add records a comparison, and prints it if it is wrong.
func (r *report) add(c checked, out io.Writer) {
	if c.Error != "" || !(c.Difference <= c.Tolerance) {
		r.Wrong++
		how := ""
		if c.Autocast {
			how = " with autocast"
		}
		if c.Error == "" {
			c.Error = fmt.Sprintf("the difference is %.2g of the largest value, %.2g is allowed", c.Difference, c.Tolerance)
		}
		fmt.Fprintf(out, "WRONG %s%s: %s\n", c.Op, how, c.Error)
	}
	if math.IsNaN(c.Difference) || math.IsInf(c.Difference, 0) {
		c.Difference = -1 // JSON has neither NaN nor infinity
	}
	r.Ops = append(r.Ops, c)
}

func (r *report) printProblems(out io.Writer) {
	for _, p := range r.Problems {
		fmt.Fprintf(out, "note: %s\n", p)
	}
}

var plainName = regexp.MustCompile(`[^a-z0-9]+`)

// save writes the report to a folder and returns its path.
func (r *report) save(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	name := r.Date[:10] + "-" + strings.Trim(plainName.ReplaceAllString(strings.ToLower(r.Name), "-"), "-")
	path := filepath.Join(folder, name+".json")
	return path, r.write(path)
}

// write writes the report to a file.
func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
