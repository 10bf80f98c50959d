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

// result is a run, as it is kept.
type result struct {
	Date     string            `json:"date"` // of the newest figure, 2006-01-02T15:04:05Z
	Machine  machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Rounds   int               `json:"rounds"`
	Figures  map[string]figure `json:"figures"` // by bench
}

// machine is where a run was made. Runs of different machines are not compared.
type machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	System    string `json:"system"`
}

// figure is what was measured of one bench.
type figure struct {
	Words  string             `json:"words"`
	Flops  float64            `json:"flops,omitempty"` // of a step
	Bytes  float64            `json:"bytes,omitempty"` // that a step moves
	Losses []float64          `json:"losses,omitempty"`
	Peak   map[string]float64 `json:"peak"`  // FLOP/s, by runner
	Times  map[string]times   `json:"times"` // of a step, by runner
}

func newResult(o options) result {
	return result{
		Date:    time.Now().UTC().Format(time.RFC3339),
		Machine: machine{Processor: processor(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH},
		Rounds:  o.rounds,
		Figures: map[string]figure{},
	}
}

// processor is the processor's name and model, where the system tells.
func processor() string {
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

// save writes a result. Figures of benches that a file of this machine and
// these versions has, and the result has not, stay.
func save(path string, r result) error {
	old, err := load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.Machine != r.Machine || fmt.Sprint(old.Versions) != fmt.Sprint(r.Versions):
		return fmt.Errorf("%s is of another machine or of other versions; name another file", path)
	default:
		for name, f := range old.Figures {
			if _, ok := r.Figures[name]; !ok {
				r.Figures[name] = f
			}
		}
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// lastResult is the newest run of a machine in a folder, nil if there is none.
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
