package optim

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// MaxIterations sets the largest number of iterations in a step of [LBFGS], 20 by default, and with it that of the
// calls of the closure, which is a quarter larger.
func MaxIterations(n int) Option {
	return Option{option.New(func(o *options) { o.iterations = n }, "MaxIterations", n).
		Require(n >= 1 && n <= math.MaxInt32, "it must be at least 1")}
}

// HistorySize sets the number of earlier updates by which [LBFGS] approximates the curvature, 100 by
// default. Each needs two float64 for each parameter.
func HistorySize(n int) Option {
	return Option{option.New(func(o *options) { o.history = n }, "HistorySize", n).Require(n >= 1, "it must be at least 1")}
}

// Tolerances ends a step of [LBFGS] when no element of the gradient is larger than gradient (1e-7 by default), or
// when the loss and no parameter change by more than change (1e-9 by default).
func Tolerances(gradient, change float64) Option {
	return Option{option.New(func(o *options) { o.toleranceGradient, o.toleranceChange = gradient, change }, "Tolerances", gradient, change).
		Require(gradient >= 0 && change >= 0, "they must not be negative")}
}

// StrongWolfe makes each iteration of [LBFGS] search for a step length that satisfies the strong Wolfe conditions
// (Nocedal and Wright, Numerical Optimization, 2006, algorithms 3.5 and 3.6), PyTorch's line_search_fn.
// It calls the closure more often, and converges more reliably.
func StrongWolfe() Option {
	return Option{option.New(func(o *options) { o.search = true }, "StrongWolfe")}
}

// LBFGS returns the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno (Liu and Nocedal,
// 1989), which approximates the curvature of the loss from the last gradients. It is made for losses
// without randomness, such as that of all examples at once, and needs few steps for small models.
// rate, usually 1, is the length of the step along each direction, or where the search begins. model is
// as for [AdamW].
//
// A step calls the loss several times, and so it gets a function. Therefore it is for a training loop
// of your own, and no optimizer of accel.Fit, whose steps have one batch each:
//
//	opt := optim.LBFGS(model, 1, optim.StrongWolfe())
//	for range 10 {
//		loss := opt.Step(func() *tensor.Tensor {
//			loss := nn.MSE(model.Forward(x), y)
//			loss.Backward()
//			return loss
//		})
//	}
//
// It is PyTorch's LBFGS with its defaults, in float64 on the host. Options are [MaxIterations], [HistorySize],
// [Tolerances] and [StrongWolfe].
func LBFGS(model any, rate float64, given ...Option) *LBFGSOptimizer {
	o := &LBFGSOptimizer{model: model, rate: rate, options: options{iterations: 20, history: 100, toleranceGradient: 1e-7, toleranceChange: 1e-9}}
	o.invalid = option.Reason(&o.options, given, "MaxIterations", "HistorySize", "Tolerances", "StrongWolfe")
	return o
}

// LBFGSOptimizer updates parameters by [LBFGS]. It must not be used by several goroutines at the same time.
type LBFGSOptimizer struct {
	model any
	rate  float64
	options
	invalid string // why an option is; "" if none is

	parameters []*tensor.Tensor // of the running step
	closure    func() *tensor.Tensor
	calls      int // of the closure in the running step

	made              int // iterations so far
	direction         []float64
	length            float64   // of the last step along the direction
	gradient          []float64 // before it
	moves, changes    [][]float64
	inverse           []float64 // 1 / (move · change of the gradient)
	curvature, before float64   // of the initial Hessian's inverse; loss of the last iteration
}

// String returns the name of the optimizer and its learning rate.
func (o *LBFGSOptimizer) String() string { return fmt.Sprintf("LBFGS, learning rate %g", o.rate) }

// Iterations returns the number of iterations of all steps so far.
func (o *LBFGSOptimizer) Iterations() int { return o.made }

// Step changes the parameters so that the loss falls, and returns the loss before. closure computes the
// loss of the current parameters and calls its Backward; Step calls it about 25 times at most, and discards
// the gradients before each call. The next Step continues with the curvature that this one has found, and
// so all of them must have the same loss.
//
// Step panics with a *tensor.StateError if an argument of the optimizer is outside of its range, if the
// model has no parameters, if closure has not called Backward, and, with the parameters as they were
// before the iteration, if the loss or a gradient is NaN or infinite.
func (o *LBFGSOptimizer) Step(closure func() *tensor.Tensor) (loss float64) {
	x, now := o.begin(closure)
	if len(nn.Parameters(o.model)) != len(o.parameters) { // layers have created theirs
		x, now = o.begin(closure)
	}
	o.requireFinite(now, x)
	loss = now.loss
	if largest(now.gradient) <= o.toleranceGradient {
		return loss
	}
	for i := 1; ; i++ {
		o.made++
		o.turn(now)
		o.gradient, o.before = now.gradient, now.loss
		length := o.rate
		if o.made == 1 {
			length *= math.Min(1, 1/floats.Norm(now.gradient, 1))
		}
		slope := floats.Dot(now.gradient, o.direction)
		if slope > -o.toleranceChange {
			return loss
		}
		last := i == o.iterations
		x, now, o.length = o.move(x, now, length, slope, last)
		if last || o.calls >= o.mostCalls() || largest(now.gradient) <= o.toleranceGradient ||
			largest(o.direction)*math.Abs(o.length) <= o.toleranceChange || math.Abs(now.loss-o.before) < o.toleranceChange {
			return loss
		}
	}
}

// begin starts a step at the current parameters.
func (o *LBFGSOptimizer) begin(closure func() *tensor.Tensor) (x []float64, now evaluated) {
	o.start(closure)
	x = o.values()
	return x, o.at(x)
}

// mostCalls is the number of calls of the closure after which a step ends, and a search accepts what it has.
func (o *LBFGSOptimizer) mostCalls() int { return o.iterations * 5 / 4 }

// start checks the arguments and finds the parameters.
func (o *LBFGSOptimizer) start(closure func() *tensor.Tensor) {
	o.parameters, o.closure, o.calls = nn.Parameters(o.model), closure, 0
	if len(o.parameters) == 0 && closure != nil { // layers create them with their first input
		closure()
		o.parameters = nn.Parameters(o.model)
	}
	size := 0
	for _, p := range o.parameters {
		size += p.Numel()
	}
	for _, rule := range []struct {
		broken bool
		hint   string
	}{
		{closure == nil, "the closure is nil: pass a function that computes the loss and calls its Backward"},
		{!(o.rate > 0) || math.IsInf(o.rate, 1), fmt.Sprintf("the learning rate %v must be positive and finite", o.rate)},
		{o.invalid != "", o.invalid},
		{isSharded(o.model), "it needs all parameters, but each rank has a part of them: use another optimizer"},
		{size == 0, "the model has no parameters that require a gradient"},
		{o.gradient != nil && len(o.gradient) != size, "the model had other parameters in the last step: create another optimizer"},
	} {
		if rule.broken {
			panic(&tensor.StateError{Op: "LBFGS", Hint: rule.hint})
		}
	}
}

// evaluated is the loss and its gradient for some values of the parameters.
type evaluated struct {
	loss     float64
	gradient []float64
}

func (e evaluated) finite() bool {
	return !math.IsNaN(e.loss - e.loss + floats.Dot(e.gradient, e.gradient)*0)
}

// values returns all parameters.
func (o *LBFGSOptimizer) values() (x []float64) {
	for _, p := range o.parameters {
		x = append(x, p.Float64s()...)
	}
	return x
}

// set gives the parameters values.
func (o *LBFGSOptimizer) set(x []float64) {
	tensor.NoGrad(func() {
		for _, p := range o.parameters {
			n := p.Numel()
			p.Assign(tensor.FromFloat64s(x[:n], p.Shape()...).Cast(p.DType()))
			x = x[n:]
		}
		tensor.Flush()
	})
}

// at computes the loss and its gradient for values of the parameters.
func (o *LBFGSOptimizer) at(x []float64) evaluated {
	o.set(x)
	for _, p := range o.parameters {
		p.ZeroGrad()
	}
	o.calls++
	loss := o.closure()
	if loss == nil || loss.Numel() != 1 {
		panic(&tensor.StateError{Op: "LBFGS", Hint: "the closure must return the loss, a tensor of one element"})
	}
	e, found := evaluated{loss: loss.Item()}, false
	for _, p := range o.parameters {
		g := p.Grad()
		if g == nil { // the loss does not depend on it
			e.gradient = append(e.gradient, make([]float64, p.Numel())...)
			continue
		}
		e.gradient, found = append(e.gradient, g.Float64s()...), true
		g.Release()
	}
	if !found {
		panic(&tensor.StateError{Op: "LBFGS", Hint: "no parameter has a gradient: the closure must call Backward of the loss"})
	}
	return e
}

// requireFinite panics with the parameters set to x if the loss or its gradient is not finite.
func (o *LBFGSOptimizer) requireFinite(e evaluated, x []float64) {
	if e.finite() {
		return
	}
	o.set(x)
	o.direction, o.gradient, o.made = nil, nil, 0 // the next step starts again
	o.moves, o.changes, o.inverse = nil, nil, nil
	panic(&tensor.StateError{Op: "LBFGS", Hint: fmt.Sprintf("the loss is %v, or its gradient is not finite: try a smaller learning rate, or StrongWolfe", e.loss)})
}

// turn computes the next direction from the gradient and the last updates.
func (o *LBFGSOptimizer) turn(now evaluated) {
	if o.made == 1 {
		o.curvature = 1
	} else {
		move, change := scaled(o.direction, o.length), added(now.gradient, o.gradient, -1)
		if product := floats.Dot(move, change); product > 1e-10 {
			o.moves, o.changes, o.inverse = append(o.moves, move), append(o.changes, change), append(o.inverse, 1/product)
			if extra := len(o.moves) - o.history; extra > 0 {
				o.moves, o.changes, o.inverse = o.moves[extra:], o.changes[extra:], o.inverse[extra:]
			}
			o.curvature = product / floats.Dot(change, change)
		}
	}
	// The two loops of algorithm 7.4 of Nocedal and Wright.
	d, factors := scaled(now.gradient, -1), make([]float64, len(o.moves))
	for i := len(o.moves) - 1; i >= 0; i-- {
		factors[i] = floats.Dot(o.moves[i], d) * o.inverse[i]
		d = added(d, o.changes[i], -factors[i])
	}
	d = scaled(d, o.curvature)
	for i := range o.moves {
		d = added(d, o.moves[i], factors[i]-floats.Dot(o.changes[i], d)*o.inverse[i])
	}
	o.direction = d
}

// move goes along the direction from x. Without a search, the last iteration of a step does not compute
// the loss again.
func (o *LBFGSOptimizer) move(x []float64, now evaluated, length, slope float64, last bool) (to []float64, there evaluated, gone float64) {
	if o.search {
		there, gone = o.wolfe(x, now, length, slope)
		to = added(x, o.direction, gone)
		o.set(to)
		return to, there, gone
	}
	to = added(x, o.direction, length)
	if last {
		o.set(to)
		return to, now, length
	}
	there = o.at(to)
	o.requireFinite(there, x)
	return to, there, length
}

// point is a point along the direction.
type point struct {
	length, slope float64
	evaluated
}

const (
	sufficientDecrease = 1e-4 // c₁ of the Wolfe conditions
	sufficientFlatness = 0.9  // c₂
	searchChange       = 1e-9 // of a parameter, below which a search ends, whatever the tolerance, as in PyTorch
)

// wolfe returns a point that satisfies the strong Wolfe conditions, or the best one that it has found.
func (o *LBFGSOptimizer) wolfe(x []float64, start evaluated, length, slope float64) (evaluated, float64) {
	zero := point{0, slope, start}
	try := func(length float64) point {
		e := o.at(added(x, o.direction, length))
		if !e.finite() {
			e.loss = math.Inf(1) // a shorter step may have a loss
		}
		return point{length, floats.Dot(e.gradient, o.direction), e}
	}
	high := func(p point) bool { return p.loss > start.loss+sufficientDecrease*p.length*slope }
	flat := func(p point) bool { return math.Abs(p.slope) <= -sufficientFlatness*slope }
	limit := o.mostCalls() - o.calls
	// An interval that contains such a point.
	previous, next := zero, try(length)
	calls := 0
	bracket := [2]point{zero, next} // if the search finds no interval
	for ; calls < limit; calls++ {
		bracket = [2]point{previous, next}
		if high(next) || calls > 1 && next.loss >= previous.loss || next.slope >= 0 && !flat(next) {
			break
		}
		if flat(next) {
			return next.evaluated, next.length
		}
		least, most := next.length+0.01*(next.length-previous.length), next.length*10
		previous, next = next, try(cubicMinimum(previous, next, least, most))
		bracket = [2]point{zero, next}
	}
	low, far := 0, 1
	if bracket[0].loss > bracket[1].loss {
		low, far = 1, 0
	}
	progress := true
	for ; calls < limit && math.Abs(bracket[1].length-bracket[0].length)*largest(o.direction) >= searchChange; calls++ {
		var at float64
		at, progress = within(bracket, progress)
		next := try(at)
		if high(next) || next.loss >= bracket[low].loss {
			bracket[far] = next
			low, far = 0, 1
			if bracket[0].loss > bracket[1].loss {
				low, far = 1, 0
			}
			continue
		}
		done := flat(next)
		if !done && next.slope*(bracket[far].length-bracket[low].length) >= 0 {
			bracket[far] = bracket[low]
		}
		if bracket[low] = next; done {
			break
		}
	}
	best := bracket[low]
	o.requireFinite(best.evaluated, x)
	return best.evaluated, best.length
}

// within returns the next length in an interval: that of the minimum of a cubic through its ends, unless
// it is close to an end for the second time, and whether it is not close to an end.
func within(bracket [2]point, progress bool) (length float64, progresses bool) {
	least, most := bracket[0].length, bracket[1].length
	if least > most {
		least, most = most, least
	}
	length = cubicMinimum(bracket[0], bracket[1], least, most)
	margin := 0.1 * (most - least)
	if math.Min(most-length, length-least) >= margin {
		return length, true
	}
	if progress && length < most && length > least {
		return length, false
	}
	if math.Abs(length-most) < math.Abs(length-least) {
		return most - margin, true
	}
	return least + margin, true
}

// cubicMinimum returns the minimum, between least and most, of the cubic with the losses and slopes of two points
// (Nocedal and Wright, equation 3.59), or the middle if there is none.
func cubicMinimum(a, b point, least, most float64) float64 {
	if a.length > b.length {
		a, b = b, a
	}
	d := a.slope + b.slope - 3*(a.loss-b.loss)/(a.length-b.length)
	square := d*d - a.slope*b.slope
	if !(square >= 0) || math.IsInf(square, 1) {
		return (least + most) / 2
	}
	root := math.Sqrt(square)
	at := b.length - (b.length-a.length)*((b.slope+root-d)/(b.slope-a.slope+2*root))
	if math.IsNaN(at) {
		return (least + most) / 2
	}
	return math.Min(math.Max(at, least), most)
}

// added returns a + factor·b.
func added(a, b []float64, factor float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(a)), a, factor, b)
}

func scaled(a []float64, factor float64) []float64 {
	return floats.ScaleTo(make([]float64, len(a)), factor, a)
}

// largest returns the largest absolute value.
func largest(a []float64) float64 { return floats.Norm(a, math.Inf(1)) }
