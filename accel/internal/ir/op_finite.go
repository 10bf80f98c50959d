package ir

// Finite is y = x, and refuses to be anything else than finite: where x has NaN
// or an infinity, the run of the list ends with a *NonFiniteError before any
// value is overwritten that it was recorded before.
type Finite struct {
	What string // that x is, for the error
}

// Name is Finite.
func (Finite) Name() string { return "Finite" }

// Class of Finite is a step of its own.
func (Finite) Class([]*Value) Class { return Whole }

// AppendKey appends what x is.
func (o Finite) AppendKey(key []byte) []byte { return append(appendInts(key, len(o.What)), o.What...) }

// Infer is the input's type.
func (Finite) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	return Type{in[0].shape, in[0].dtype}, nil
}

// Gradient of Finite is dy.
func (Finite) Gradient(_ *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{dy}
}
