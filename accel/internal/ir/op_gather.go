package ir

// Gather is y[i…] = x[index[i…]]: rows of x [R, …] picked by an int32 tensor,
// giving index's shape followed by the row's.
type Gather struct{}

// Name is Gather.
func (Gather) Name() string { return "Gather" }

// Class of Gather is a step of its own.
func (Gather) Class([]*Value) Class { return Whole }

// AppendKey has nothing to add.
func (Gather) AppendKey(key []byte) []byte { return key }

// Infer is index's shape followed by the row's shape.
func (Gather) Infer(in []*Value) (Type, error) {
	if in[1].dtype != Int32 {
		return Type{}, &DTypeError{Hint: "the index must be int32; make it with FromInts or Cast"}
	}
	if len(in[0].shape) == 0 {
		return Type{}, &ShapeError{Hint: "a scalar has no rows to pick"}
	}
	return Type{append(append([]int{}, in[1].shape...), in[0].shape[1:]...), in[0].dtype}, nil
}

// Gradient of Gather adds dy's rows up at the rows that they came from.
func (Gather) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	add := ScatterAdd{Rows: in[0].shape[0], Row: append([]int{}, in[0].shape[1:]...)}
	if d := dy.dtype; d.Half() {
		return []*Value{r.as(r.Record(add, r.as(dy, Float32), in[1]), d), nil}
	}
	return []*Value{r.Record(add, dy, in[1]), nil}
}
