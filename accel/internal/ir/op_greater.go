package ir

// Greater computes y = 1 where a > b, else 0, as float32, with broadcasting. Both inputs
// must have the same element type.
type Greater struct{ noGradient }

// Name returns "Greater".
func (Greater) Name() string { return "Greater" }

// Class returns Whole for integers, which are compared as integers in a step of their own.
func (Greater) Class(in []*Value) Class { return compareClass(in) }

// Infer returns the broadcast shape, float32.
func (Greater) Infer(in []*Value) (Type, error) { return inferCompare(in) }

// AppendKey appends nothing.
func (Greater) AppendKey(key []byte) []byte { return key }

func (Greater) strided() {}
