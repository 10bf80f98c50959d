package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// result is a run as stored in a file.
type result struct {
	Date     string            `json:"date"` // of the newest measurement, 2006-01-02T15:04:05Z
	Machine  machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Rounds   int               `json:"rounds"`
	Figures  map[string]figure `json:"figures"` // by benchmark
}

// machine identifies the machine of a run. Runs of different machines are not compared.
type machine struct {
	CPU    string `json:"processor"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
}

// figure is the measurements of one benchmark.
type figure struct {
	Description string    `json:"words"`
	Flops       float64   `json:"flops,omitempty"` // per step
	Bytes       float64   `json:"bytes,omitempty"` // memory traffic per step
	Losses      []float64 `json:"losses,omitempty"`
	// Runners that are not compared: what failed in another framework, and how the losses
	// differ from those of Quern.
	Failed    map[string]string  `json:"failed,omitempty"`
	Disagrees map[string]string  `json:"disagrees,omitempty"`
	Peak      map[string]float64 `json:"peak"`  // FLOP/s, by runner
	Times     map[string]times   `json:"times"` // per step, by runner
}

func newResult(o options) result {
	return result{
		Date:     time.Now().UTC().Format(time.RFC3339),
		Machine:  machine{CPU: cpuName(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH},
		Versions: map[string]string{},
		Rounds:   o.rounds,
		Figures:  map[string]figure{},
	}
}

// cpuName returns the name and model of the CPU, if the system reports it.
func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	var parts []string
	for lines := bufio.NewScanner(f); lines.Scan() && lines.Text() != ""; {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(name) {
		case "model name":
			parts = append(parts, strings.TrimSpace(value))
		case "cpu family", "model":
			parts = append(parts, strings.TrimSpace(name)+" "+strings.TrimSpace(value))
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
	text := fmt.Sprintf("%s %d cores %s", m.CPU, m.Cores, m.System)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	return strings.Join(words, "-") + ".json"
}

// save writes a result to the file of its machine in a folder and returns the path. If the
// file has the same versions, its measurements of other benchmarks are kept; otherwise it is
// replaced, which takes all benchmarks.
func save(folder string, r result) (string, error) {
	path := filepath.Join(folder, r.Machine.fileName())
	old, err := load(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for name, f := range old.Figures {
		if _, ok := r.Figures[name]; ok {
			continue
		}
		if fmt.Sprint(old.Versions) != fmt.Sprint(r.Versions) {
			return "", fmt.Errorf("%s has a measurement of %s with other versions: measure all benchmarks", path, name)
		}
		r.Figures[name] = f
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, append(text, '\n'), 0o644)
}

// lastResult returns the newest run of a machine in a folder, or nil.
func lastResult(folder string, m machine) (*result, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var last *result
	for _, p := range paths {
		r, err := load(p)
		if err != nil {
			return nil, err
		}
		if r.Machine == m && (last == nil || r.Date > last.Date) {
			last = &r
		}
	}
	return last, nil
}
