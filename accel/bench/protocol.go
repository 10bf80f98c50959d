package main

// The protocol between this program and a benchmark process: one JSON object per line.

// request is a request: versions, prepare, run or drop.
type request struct {
	Do      string `json:"do"`
	Bench   string `json:"bench,omitempty"`
	Setting string `json:"setting,omitempty"`
	Case    string `json:"case,omitempty"` // file of the arrays, without extension
	Steps   int    `json:"steps,omitempty"`
}

// reply is the answer to a request, or an error.
type reply struct {
	Versions map[string]string `json:"versions,omitempty"`
	Losses   []float64         `json:"losses,omitempty"` // of the first steps
	Flops    float64           `json:"flops,omitempty"`  // FLOPs of a step that measures the peak
	Seconds  float64           `json:"seconds,omitempty"`
	Error    string            `json:"error,omitempty"`
	Missing  string            `json:"missing,omitempty"` // why the framework cannot be imported
}

// checkedSteps is the number of steps whose losses are compared.
const checkedSteps = 5
