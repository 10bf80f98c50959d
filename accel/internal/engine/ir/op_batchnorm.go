package ir

// BatchNorm computes y = (x - mean)/√(variance + Epsilon)·w + b for each channel of x [N,
// C, …], given statistics [2, C] of mean and variance, and w and b [C] (Ioffe and Szegedy,
// arXiv:1502.03167); torch's batch_norm. An activation that follows fuses into it.
type BatchNorm struct {
	wholeOp
	Epsilon float64
	// Training means that the statistics were computed from x, so gradients flow through
	// them.
	Training bool
	// Across is called in the gradient if the statistics come from several processes. It
	// maps this process's Σ dy and Σ dy·x̂ [2, C] to the sums over all processes times the
	// fraction of elements in x. It may record and run lists. It is nil for statistics of x
	// alone.
	Across func(sums *Value) *Value
}

func (BatchNorm) Name() string               { return "BatchNorm" }
func (BatchNorm) typedBy(int) (from, to int) { return 0, 1 } // not by the parameters

// AppendKey appends Epsilon and Training.
func (o BatchNorm) AppendKey(key []byte) []byte {
	return appendFloat(appendFlag(key, o.Training), o.Epsilon)
}

// Infer returns x's type.
func (BatchNorm) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	x := in[0].shape
	if len(x) < 2 {
		return Type{}, &ShapeError{Hint: "x [N C …] is needed"}
	}
	if !sameShape(in[1].shape, []int{2, x[1]}) || !sameShape(in[2].shape, x[1:2]) || !sameShape(in[3].shape, x[1:2]) {
		return Type{}, &ShapeError{Hint: "the mean, the variance and the parameters must have one element per channel"}
	}
	return Type{x, in[0].dtype}, nil
}

// Compose computes channel by channel.
func (o BatchNorm) Compose(r *Recorder, in []*Value) *Value {
	x, _ := r.normalizedChannels(in[0], in[1], o.Epsilon)
	return r.Add(r.Mul(x, r.perChannel(in[2], x)), r.perChannel(in[3], x))
}

// normalizedChannels returns x̂ of x [N, C, …], and 1/√(variance + epsilon) for each channel.
func (r *Recorder) normalizedChannels(x, statistics *Value, epsilon float64) (y, scale *Value) {
	scale = r.inverseRoot(r.perChannel(r.row(statistics, 1), x), epsilon)
	return r.Mul(r.Record(Sub{}, x, r.perChannel(r.row(statistics, 0), x)), scale), scale
}

// perChannel returns v [C] in a shape that broadcasts to x [N, C, …].
func (r *Recorder) perChannel(v, x *Value) *Value {
	shape := ones(len(x.shape) - 1)
	shape[0] = x.shape[1]
	return r.Reshape(v, shape)
}

// channels returns x [N, C, …] as [C, N…].
func (r *Recorder) channels(x *Value) *Value {
	return r.Reshape(r.swap(x, 0, 1), []int{x.shape[1], x.shape[0] * Len(x.shape[2:])})
}

// Gradient returns, with x̂ for the normalized x, w·(dy - mean(dy) -
// x̂·mean(dy·x̂))/√(variance + Epsilon) for x, without the means outside of training, Σ
// dy·x̂ for w and Σ dy for b.
func (o BatchNorm) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	x, statistics, w := in[0], in[1], in[2]
	out := make([]*Value, 4)
	sums := r.Record(BatchNormSums{BatchNorm: o}, x, dy, statistics)
	out[3], out[2] = r.row(sums, 0), r.row(sums, 1)
	if wants[0] {
		if o.Across != nil {
			sums = r.across(o.Across, sums, dy, out[2], out[3])
		}
		out[0] = r.Record(BatchNormInputGradient{BatchNorm: o}, x, dy, statistics, w, sums)
	}
	return out
}

// across runs f during Backward. It holds the values that the gradient still needs
// meanwhile.
func (r *Recorder) across(f func(*Value) *Value, sums *Value, needed ...*Value) (all *Value) {
	needed = append(needed, sums)
	for _, v := range needed {
		v.Hold()
	}
	defer func() {
		for _, v := range needed {
			v.Drop()
		}
	}()
	r.aside(func() { all = f(sums) })
	return all
}

// BatchStatistics computes mean and variance [2, C] of each channel of x [N, C, …]; the
// variance divides by the number of elements.
type BatchStatistics struct {
	wholeOp
	noGradient
}

func (BatchStatistics) Name() string { return "BatchStatistics" }

// Infer returns [2, C].
func (BatchStatistics) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	x := in[0].shape
	if len(x) < 2 {
		return Type{}, &ShapeError{Hint: "x [N C …] is needed"}
	}
	if x[1] > 0 && Len(x) == 0 {
		return Type{}, &ShapeError{Hint: "there are no elements to average"}
	}
	return Type{[]int{2, x[1]}, in[0].dtype}, nil
}

// Compose reduces each channel.
func (BatchStatistics) Compose(r *Recorder, in []*Value) *Value {
	x := r.channels(in[0])
	mean := r.meanLast(x)
	variance := r.meanLast(r.Record(Square{}, r.Record(Sub{}, x, mean)))
	return r.rows(r.Reshape(mean, x.shape[:1]), r.Reshape(variance, x.shape[:1]))
}

// BatchNormSums computes Σ dy and Σ dy·x̂ [2, C] of each channel, from x, dy and the
// statistics.
type BatchNormSums struct {
	gradientOp
	BatchNorm
}

func (BatchNormSums) Name() string { return "BatchNormSums" }

// Infer returns [2, C].
func (BatchNormSums) Infer(in []*Value) (Type, error) {
	return Type{[]int{2, in[0].shape[1]}, in[0].dtype}, nil
}

// Compose sums over each channel.
func (o BatchNormSums) Compose(r *Recorder, in []*Value) *Value {
	y, _ := r.normalizedChannels(in[0], in[2], o.Epsilon)
	sum := func(v *Value) *Value { return r.Record(Sum{From: 1, To: 2}, r.channels(v)) }
	return r.rows(sum(in[1]), sum(r.Mul(in[1], y)))
}

// BatchNormInputGradient computes the gradient dx of BatchNorm from x, dy, the statistics,
// w and the sums.
type BatchNormInputGradient struct {
	gradientOp
	BatchNorm
}

func (BatchNormInputGradient) Name() string { return "BatchNormInputGradient" }

// Infer returns x's type.
func (BatchNormInputGradient) Infer(in []*Value) (Type, error) {
	return Type{in[0].shape, in[0].dtype}, nil
}

// Compose applies the formula of BatchNorm's gradient.
func (o BatchNormInputGradient) Compose(r *Recorder, in []*Value) *Value {
	x, d, sums := in[0], in[1], in[4]
	y, scale := r.normalizedChannels(x, in[2], o.Epsilon)
	if o.Training {
		n := r.scalar(float64(x.shape[0]*Len(x.shape[2:])), x.dtype)
		mean := func(i int) *Value { return r.perChannel(r.Record(Div{}, r.row(sums, i), n), x) }
		d = r.Record(Sub{}, r.Record(Sub{}, d, mean(0)), r.Mul(y, mean(1)))
	}
	return r.Mul(d, r.Mul(scale, r.perChannel(in[3], x)))
}
