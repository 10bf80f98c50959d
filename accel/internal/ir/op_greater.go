package ir

// Greater is y = 1 where a > b, else 0, as float32, with broadcasting. Both inputs
// have one element type, whichever it is.
type Greater struct{ noGradient }

// Name is Greater.
func (Greater) Name() string { return "Greater" }

// Class of Greater: integers are compared as integers, in a step of their own.
func (Greater) Class(in []*Value) Class { return compareClass(in) }

// Infer is the broadcast shape, float32.
func (Greater) Infer(in []*Value) (Type, error) { return inferCompare(in) }

// AppendKey has nothing to add.
func (Greater) AppendKey(key []byte) []byte { return key }

func (Greater) strided() {}
