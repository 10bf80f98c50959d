package main

// What the parent asks of a side, and what it answers: JSON, a line each.

// request says what to do: versions, prepare, run or drop.
type request struct {
	Do      string `json:"do"`
	Bench   string `json:"bench,omitempty"`
	Setting string `json:"setting,omitempty"`
	Case    string `json:"case,omitempty"` // file of the arrays, without extension
	Steps   int    `json:"steps,omitempty"`
}

// reply has what was asked for, or an error.
type reply struct {
	Versions map[string]string `json:"versions,omitempty"`
	Losses   []float64         `json:"losses,omitempty"` // of the first steps
	Flops    float64           `json:"flops,omitempty"`  // of a step that measures the peak
	Seconds  float64           `json:"seconds,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// checkedSteps are the steps whose losses all sides compare.
const checkedSteps = 5
