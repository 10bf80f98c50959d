package ir

// IndexSelect is y[i…] = x[index[i…]]: rows of x [R, …] selected by an int32 tensor, with
// the shape of the index followed by that of a row.
type IndexSelect struct {
	wholeOp
	movement
}

func (IndexSelect) Name() string { return "IndexSelect" }

// Infer returns index's shape followed by the row's shape.
func (IndexSelect) Infer(in []*Value) (Type, error) {
	if err := wantIndex(in[1]); err != nil {
		return Type{}, err
	}
	if len(in[0].shape) == 0 {
		return Type{}, &ShapeError{Hint: "a scalar has no rows to select"}
	}
	return Type{append(append([]int{}, in[1].shape...), in[0].shape[1:]...), in[0].dtype}, nil
}

// Gradient adds dy's rows to the rows that they came from.
func (IndexSelect) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	add := IndexAdd{Rows: in[0].shape[0], Row: append([]int{}, in[0].shape[1:]...)}
	if d := dy.dtype; d.Is16Bit() {
		return []*Value{r.as(r.Record(add, r.as(dy, Float32), in[1]), d), nil}
	}
	return []*Value{r.Record(add, dy, in[1]), nil}
}
