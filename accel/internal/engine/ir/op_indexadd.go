package ir

// IndexAdd computes y [Rows, Row…]: it adds the rows of x [I…, Row…] to the rows of y at
// int32 indices [I…], in order. Rows that no index names are 0.
type IndexAdd struct {
	wholeOp
	Rows int
	Row  []int
}

func (IndexAdd) Name() string       { return "IndexAdd" }
func (IndexAdd) Autocast() Autocast { return CastWidest }

// Infer returns [Rows, Row…].
func (o IndexAdd) Infer(in []*Value) (Type, error) {
	x, index := in[0], in[1]
	if err := wantFloat(x); err != nil {
		return Type{}, err
	}
	if err := wantIndex(index); err != nil {
		return Type{}, err
	}
	if o.Rows < 0 || !sameShape(x.shape, append(append([]int{}, index.shape...), o.Row...)) {
		return Type{}, &ShapeError{Hint: "the first input must have one row per index"}
	}
	return Type{append([]int{o.Rows}, o.Row...), x.dtype}, nil
}

// Gradient returns the row of dy that each row went to.
func (IndexAdd) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(IndexSelect{}, dy, in[1]), nil}
}
