package main

import "github.com/quernlab/quern/accel/internal/benchfile"

// The protocol between this program and a benchmark process: one JSON object per line.

// request is a request: versions, prepare, run, count or drop.
type request struct {
	Do      string `json:"do"`
	Bench   string `json:"bench,omitempty"`
	Setting string `json:"setting,omitempty"`
	Steps   int    `json:"steps,omitempty"`
	Empty   int    `json:"empty,omitempty"` // of run: bytes to change before each step, whose time does not count

	// Of prepare.
	Case  string `json:"case,omitempty"`  // file of the arrays, without extension
	Model string `json:"model,omitempty"` // function of the scripts; sizes follow from the arrays
	Heads int    `json:"heads,omitempty"` // attention heads
	Half  bool   `json:"half,omitempty"`  // autocast to bfloat16
}

// reply is the answer to a request, or an error.
type reply struct {
	Versions map[string]string `json:"versions,omitempty"`
	GPU      string            `json:"gpu,omitempty"`    // name of the GPU, with the versions
	PCI      string            `json:"pci,omitempty"`    // its PCI bus ID
	Losses   []float64         `json:"losses,omitempty"` // of the first steps
	Flops    float64           `json:"flops,omitempty"`  // FLOPs of a step that measures the peak
	Seconds  float64           `json:"seconds,omitempty"`
	Counts   *benchfile.Counts `json:"counts,omitempty"`
	Error    string            `json:"error,omitempty"`
	Missing  string            `json:"missing,omitempty"` // why the framework cannot be used
}

// checkedSteps is the number of steps whose losses are compared.
const checkedSteps = 5
