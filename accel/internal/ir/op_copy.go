package ir

// Copy is y = x in row-major order, whatever the layout and element type. The
// planner inserts it where a device needs row-major inputs.
type Copy struct{}

// Name is Copy.
func (Copy) Name() string { return "Copy" }

// Class of Copy is a step of its own.
func (Copy) Class([]*Value) Class { return Whole }

// AppendKey has nothing to add.
func (Copy) AppendKey(key []byte) []byte { return key }

// Infer is the input's type.
func (Copy) Infer(in []*Value) (Type, error) { return Type{in[0].shape, in[0].dtype}, nil }

func (Copy) strided() {}

// Gradient of Copy is dy.
func (Copy) Gradient(_ *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value { return []*Value{dy} }
