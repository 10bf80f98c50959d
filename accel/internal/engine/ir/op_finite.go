package ir

// Finite copies x and fails if x is not finite: if x has NaN or an infinity, the run of the
// list ends with a *NonFiniteError before any value that was recorded earlier is
// overwritten. It has no composition: no other op fails.
type Finite struct {
	wholeOp
	What string // a description of x, for the error
}

func (Finite) Name() string { return "Finite" }

// AppendKey appends the description.
func (o Finite) AppendKey(key []byte) []byte { return append(appendInts(key, len(o.What)), o.What...) }

// Infer returns the input's type.
func (Finite) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	return Type{in[0].shape, in[0].dtype}, nil
}

// Gradient returns dy.
func (Finite) Gradient(_ *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{dy}
}
