package ir

// Copy computes y = x in row-major order, whatever the layout and element type. The planner
// inserts it where a device needs row-major inputs.
type Copy struct{}

// Name returns "Copy".
func (Copy) Name() string { return "Copy" }

// Class returns Whole: Copy is a step of its own.
func (Copy) Class([]*Value) Class { return Whole }

// AppendKey appends nothing.
func (Copy) AppendKey(key []byte) []byte { return key }

// Infer returns the input's type.
func (Copy) Infer(in []*Value) (Type, error) { return Type{in[0].shape, in[0].dtype}, nil }

func (Copy) strided() {}

// Gradient returns dy.
func (Copy) Gradient(_ *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value { return []*Value{dy} }
