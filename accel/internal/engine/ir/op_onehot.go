package ir

// OneHot is y [I…, Classes] with 1 at the int32 index x [I…], 0 elsewhere, as
// float32.
type OneHot struct {
	wholeOp
	noGradient
	Classes int
}

func (OneHot) Name() string    { return "OneHot" }
func (OneHot) perElement() int { return 0 }

// Infer returns [I…, Classes].
func (o OneHot) Infer(in []*Value) (Type, error) {
	if err := wantIndex(in[0]); err != nil {
		return Type{}, err
	}
	if o.Classes < 0 {
		return Type{}, &ShapeError{Hint: "the number of classes cannot be negative"}
	}
	return Type{append(append([]int{}, in[0].shape...), o.Classes), Float32}, nil
}

// Compose compares each index with all classes.
func (o OneHot) Compose(r *Recorder, in []*Value) *Value {
	at := r.Record(Index{Size: o.Classes, For: o.Name()}, r.as(in[0], Int64))
	return r.Record(Eq{}, r.keep(at, len(at.shape)), r.as(r.count(o.Classes), Int32))
}
