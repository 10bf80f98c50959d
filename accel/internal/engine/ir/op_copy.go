package ir

// Copy computes y = x in row-major order, whatever the layout and element type. The planner
// inserts it where a device needs row-major inputs.
type Copy struct {
	wholeOp
	movement
}

func (Copy) Name() string { return "Copy" }
func (Copy) strided()     {}

// Infer returns the input's type.
func (Copy) Infer(in []*Value) (Type, error) { return Type{in[0].shape, in[0].dtype}, nil }

// Gradient returns dy.
func (Copy) Gradient(_ *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value { return []*Value{dy} }
