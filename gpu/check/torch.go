package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed torch.py
var torchScript string

// foreign is what PyTorch measured.
type foreign struct {
	Versions map[string]string             `json:"versions"`
	Seconds  map[string]map[string]float64 `json:"seconds"` // by bench and variant
	Problems []string                      `json:"problems"`
}

// runTorch measures the same with PyTorch. The error says why it cannot.
func runTorch(ctx context.Context, o options, list []bench) (foreign, error) {
	var f foreign
	given, err := json.Marshal(map[string]any{"benches": list, "products": products(o.quick), "quick": o.quick,
		"rounds": rounds, "seconds": roundSeconds, "simulated": o.device == "simulated"})
	if err != nil {
		return f, err
	}
	if err := exec.CommandContext(ctx, o.python, "-c", "import torch").Run(); err != nil {
		return f, fmt.Errorf("PyTorch is not measured: %s cannot import torch", o.python)
	}
	cmd := exec.CommandContext(ctx, o.python, "-c", torchScript)
	cmd.Stdin = bytes.NewReader(given)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return f, fmt.Errorf("PyTorch is not measured: %w: %s", err, lines[len(lines)-1])
	}
	// What libraries print comes before the last line.
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &f); err != nil {
		return f, fmt.Errorf("PyTorch is not measured: %w", err)
	}
	return f, nil
}
