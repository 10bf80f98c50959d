package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

//go:embed torch.py
var torchScript string

// foreign is the output of torch.py.
type foreign struct {
	Versions map[string]string             `json:"versions"`
	Seconds  map[string]map[string]float64 `json:"seconds"` // by bench and variant
	Problems []string                      `json:"problems"`
}

// measureTorch runs the same measurements in PyTorch, if it is installed.
func measureTorch(ctx context.Context, o options, r *report, out io.Writer) error {
	fmt.Fprintln(out, "\nPyTorch")
	f, err := runTorch(ctx, o, benches(o.quick))
	if err != nil {
		return err
	}
	r.Versions, r.Problems = f.Versions, append(r.Problems, f.Problems...)
	for name, took := range f.Seconds {
		r.Benches = append(r.Benches, measured{Bench: name, Words: name, Seconds: took})
	}
	return nil
}

// runTorch runs the measurements in PyTorch. The error says why it cannot.
func runTorch(ctx context.Context, o options, list []bench) (foreign, error) {
	var f foreign
	input, err := json.Marshal(map[string]any{"benches": list, "matmuls": matmulSizes(o.quick), "quick": o.quick,
		"rounds": rounds, "seconds": roundSeconds, "simulated": o.device == "simulated"})
	if err != nil {
		return f, err
	}
	if err := exec.CommandContext(ctx, o.python, "-c", "import torch").Run(); err != nil {
		return f, fmt.Errorf("PyTorch skipped: %s cannot import torch", o.python)
	}
	cmd := exec.CommandContext(ctx, o.python, "-c", torchScript)
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	output, err := cmd.Output()
	// Libraries may print other lines; the last line with a result counts.
	found := false
	for line := range bytes.Lines(output) {
		var one foreign
		if json.Unmarshal(line, &one) == nil && one.Seconds != nil {
			f, found = one, true
		}
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		err = fmt.Errorf("PyTorch skipped: %w: %s", err, lines[len(lines)-1])
		if found {
			f.Problems = append(f.Problems, "incomplete: "+err.Error())
			return f, nil
		}
		return f, err
	}
	if !found {
		return f, fmt.Errorf("PyTorch skipped: unexpected output %q", output[max(0, len(output)-200):])
	}
	return f, nil
}
