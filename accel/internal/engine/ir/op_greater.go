package ir

// Greater computes y = 1 where a > b, else 0, as float32, with broadcasting. Both inputs
// must have the same element type.
type Greater struct{ comparison }

func (Greater) Name() string { return "Greater" }
