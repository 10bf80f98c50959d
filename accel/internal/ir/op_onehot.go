package ir

// OneHot is y [I…, Classes] with 1 at the int32 index x [I…], 0 elsewhere, as
// float32.
type OneHot struct {
	noGradient
	Classes int
}

// Name returns "OneHot".
func (OneHot) Name() string { return "OneHot" }

// Class returns Whole: OneHot is a step of its own.
func (OneHot) Class([]*Value) Class { return Whole }

// AppendKey appends nothing: the shape is part of every key.
func (OneHot) AppendKey(key []byte) []byte { return key }

// Infer returns [I…, Classes].
func (o OneHot) Infer(in []*Value) (Type, error) {
	if in[0].dtype != Int32 {
		return Type{}, &DTypeError{Hint: "the index must be int32; make it with FromInts or Cast"}
	}
	if o.Classes < 0 {
		return Type{}, &ShapeError{Hint: "the number of classes cannot be negative"}
	}
	return Type{append(append([]int{}, in[0].shape...), o.Classes), Float32}, nil
}
