package ir

// IndexAdd is y [Rows, Row…] with the rows of x [I…, Row…] added up at the
// int32 indices [I…], in the order of the index; rows that none names are 0.
type IndexAdd struct {
	Rows int
	Row  []int
}

// Name is IndexAdd.
func (IndexAdd) Name() string { return "IndexAdd" }

// Class of IndexAdd is a step of its own.
func (IndexAdd) Class([]*Value) Class { return Whole }

// AppendKey has nothing to add: the shape is part of every key.
func (IndexAdd) AppendKey(key []byte) []byte { return key }

// Infer is [Rows, Row…].
func (o IndexAdd) Infer(in []*Value) (Type, error) {
	x, index := in[0], in[1]
	if err := wantFloat(x); err != nil {
		return Type{}, err
	}
	if index.dtype != Int32 {
		return Type{}, &DTypeError{Hint: "the index must be int32; make it with FromInts or Cast"}
	}
	if o.Rows < 0 || !sameShape(x.shape, append(append([]int{}, index.shape...), o.Row...)) {
		return Type{}, &ShapeError{Hint: "the first must have a row for each index"}
	}
	return Type{append([]int{o.Rows}, o.Row...), x.dtype}, nil
}

// Gradient of IndexAdd is the row of dy that each row went to.
func (IndexAdd) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(IndexSelect{}, dy, in[1]), nil}
}
