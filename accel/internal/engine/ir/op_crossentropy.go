package ir

// CrossEntropy is the mean over the rows of -ln softmax(logits)[label], a
// scalar, from logits [N, C] and int32 labels [N]. If Masked, rows whose label is Ignored are not computed: their
// loss and their gradient are 0, and they count in N.
type CrossEntropy struct {
	wholeOp
	Masked  bool
	Ignored int32
}

func (CrossEntropy) Name() string       { return "CrossEntropy" }
func (CrossEntropy) Autocast() Autocast { return CastFloat32 }
func (CrossEntropy) perElement() int    { return softmaxFLOPs }

// AppendKey appends the ignored label, if there is one.
func (o CrossEntropy) AppendKey(key []byte) []byte {
	if !o.Masked {
		return key
	}
	return appendInts(key, int(o.Ignored))
}

// Skips reports whether rows with a label are not computed.
func (o CrossEntropy) Skips(label int32) bool { return o.Masked && label == o.Ignored }

// Infer returns a scalar.
func (CrossEntropy) Infer(in []*Value) (Type, error) {
	logits, labels := in[0], in[1]
	if err := wantFloat(logits); err != nil {
		return Type{}, err
	}
	if labels.dtype != Int32 {
		return Type{}, &DTypeError{Hint: "labels must be int32, the number of a class for each row: labels.Cast(tensor.Int32) converts them, tensor.FromInts(classes, n) creates n of them"}
	}
	if len(logits.shape) != 2 || len(labels.shape) != 1 || logits.shape[0] != labels.shape[0] {
		hint := "logits must be [N C] and labels [N]"
		if x, y := logits.shape, labels.shape; len(x) > 2 && len(y) == 1 && x[0] == y[0] {
			hint += "; is Flatten missing in the model?"
		}
		return Type{}, &ShapeError{Hint: hint}
	}
	if logits.shape[0] == 0 {
		return Type{}, &ShapeError{Hint: "an empty batch has no mean loss"}
	}
	return Type{[]int{}, logits.dtype}, nil
}

// Compose selects the loss of each row's class.
func (o CrossEntropy) Compose(r *Recorder, in []*Value) *Value {
	label, skipped := o.labels(r, in)
	zero := r.scalar(0, in[0].dtype)
	losses := r.Record(Where{}, label, r.Record(LogSoftmax{}, in[0]), zero)
	loss := r.Record(Sum{From: 1, To: 2}, losses)
	if o.Masked {
		loss = r.Record(Where{}, skipped, zero, loss)
	}
	return r.Record(Neg{}, r.Record(Sum{From: 0, To: 1, Mean: true}, loss))
}

// labels returns a mask [N, C] of the labels, which it checks, and one [N] of the rows that are skipped.
func (o CrossEntropy) labels(r *Recorder, in []*Value) (label, skipped *Value) {
	classes, at := in[0].shape[1], r.as(in[1], Int64)
	if o.Masked {
		skipped = r.Record(Eq{}, in[1], r.as(r.scalar(float64(o.Ignored), Float64), Int32))
		at = r.as(r.Record(Where{}, skipped, r.scalar(0, Float64), r.as(in[1], Float64)), Int64)
	}
	at = r.Record(Index{Size: classes, For: o.Name()}, at)
	return r.Record(OneHot{Classes: classes}, at), skipped
}

// Gradient returns (softmax(logits) - one-hot(label))·dy/N.
func (o CrossEntropy) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(CrossEntropyGradient{CrossEntropy: o}, in[0], in[1], dy), nil}
}

// CrossEntropyGradient is (softmax(logits) - one-hot(label))·dy/N.
type CrossEntropyGradient struct {
	gradientOp
	CrossEntropy
}

func (CrossEntropyGradient) Name() string { return "CrossEntropyGradient" }

// Infer returns the logits' type.
func (CrossEntropyGradient) Infer(in []*Value) (Type, error) {
	return Type{in[0].shape, in[0].dtype}, nil
}

// Compose applies the formula.
func (o CrossEntropyGradient) Compose(r *Recorder, in []*Value) *Value {
	label, skipped := o.labels(r, in)
	d := r.Record(Sub{}, r.Record(Softmax{}, in[0]), r.as(label, in[0].dtype))
	d = r.Mul(d, r.Record(Div{}, in[2], r.scalar(float64(in[0].shape[0]), in[0].dtype)))
	if o.Masked {
		d = r.Record(Where{}, r.keep(skipped, 1), r.scalar(0, d.dtype), d)
	}
	return d
}
