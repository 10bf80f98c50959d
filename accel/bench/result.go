package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/accel/internal/cpu"
)

// result is a run as stored in a file.
type result struct {
	Date     string            `json:"date"` // of the newest measurement, 2006-01-02T15:04:05Z
	Machine  machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Rounds   int               `json:"rounds"`
	Figures  map[string]figure `json:"figures"` // by benchmark

	last *result // the stored run of this machine, or nil
}

// machine identifies the machine of a run. Runs of different machines are not compared.
type machine struct {
	CPU    string `json:"processor"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
	GPU    string `json:"gpu,omitempty"` // if it is measured
	// The instruction set that a variable limits the CPU to: it is a kind of its own.
	Limited string `json:"limited,omitempty"`

	Caches    *cpu.Caches `json:"caches,omitempty"` // of a CPU
	HugePages string      `json:"huge_pages,omitempty"`
}

// figure is the measurements of one benchmark.
type figure struct {
	Description string    `json:"words"`
	Flops       float64   `json:"flops,omitempty"`   // per step
	Bytes       float64   `json:"bytes,omitempty"`   // memory traffic per step
	Samples     int       `json:"samples,omitempty"` // images or tokens per step
	Losses      []float64 `json:"losses,omitempty"`
	// Runners that are not compared: what failed in another framework, and how the losses
	// differ from those of Quern.
	Failed    map[string]string  `json:"failed,omitempty"`
	Disagrees map[string]string  `json:"disagrees,omitempty"`
	Peak      map[string]float64 `json:"peak"`  // FLOP/s, by runner
	Times     map[string]times   `json:"times"` // per step, by runner

	// Of a GPU.
	Counts *benchfile.Counts  `json:"counts,omitempty"`
	Watts  map[string]float64 `json:"watts,omitempty"` // mean power, by runner
	Notes  []string           `json:"notes,omitempty"` // what should not be so
}

func newFigure(c benchCase) figure {
	return figure{
		Description: c.description, Flops: c.flops, Bytes: c.bytes, Samples: c.samples,
		Times: map[string]times{}, Peak: map[string]float64{}, Watts: map[string]float64{},
		Failed: map[string]string{}, Disagrees: map[string]string{},
	}
}

// fail records that a runner failed, or why it cannot measure the case.
func (f *figure) fail(r *runner, err error) {
	r.excluded = true
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		f.Notes = append(f.Notes, err.Error())
		return
	}
	f.Failed[r.key()] = err.Error()
}

func newResult(o options) result {
	m := machine{CPU: cpuName(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if o.device == "cpu" {
		caches := cpu.DataCaches()
		m.Limited, m.Caches, m.HugePages = limited(cpuFeatures(), cpu.Implementations()[0]), &caches, hugePages()
	}
	return result{
		Date:     time.Now().UTC().Format(time.RFC3339),
		Machine:  m,
		Versions: map[string]string{},
		Rounds:   o.rounds,
		Figures:  map[string]figure{},
	}
}

// cpuName returns the name and model of the CPU, if the system reports it.
func cpuName() string {
	info := cpuInfo()
	if info == nil {
		return runtime.GOARCH
	}
	var parts []string
	for name, value := range info {
		switch name {
		case "model name":
			parts = append(parts, value)
		case "cpu family", "model":
			parts = append(parts, name+" "+value)
		}
	}
	slices.Sort(parts)
	slices.Reverse(parts)
	return strings.Join(parts, ", ")
}

// load reads a result.
func load(path string) (result, error) {
	var r result
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// fileName returns the name of the file for the results of a machine, such as
// intel-r-xeon-r-processor-6-207-2-cores-linux-amd64.json.
func (m machine) fileName() string {
	text := fmt.Sprintf("%s %s %s %d cores %s", m.GPU, m.CPU, m.Limited, m.Cores, m.System)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return strings.Join(words, "-") + ".json"
}

// keep adds the figures of the stored run of the machine, if there is one, that a new run will not
// measure. They must be of the same versions.
func (r *result) keep(names []string) error {
	if r.last == nil {
		return nil
	}
	for name, f := range r.last.Figures {
		if slices.Contains(names, name) {
			continue
		}
		if !maps.Equal(r.last.Versions, r.Versions) {
			return fmt.Errorf("%s has a measurement of %s with other versions: measure all benchmarks", r.Machine.fileName(), name)
		}
		r.Figures[name] = f
	}
	return nil
}

// save writes a result to the file of its machine in a folder.
func (r *result) save(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, r.Machine.fileName()), append(text, '\n'), 0o644)
}

// lastResult returns the stored run of a machine in a folder, or nil.
func lastResult(folder string, m machine) (*result, error) {
	r, err := load(filepath.Join(folder, m.fileName()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &r, err
}
