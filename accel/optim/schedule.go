package optim

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Schedule changes the learning rate during training: at each step the learning rate is that of
// the optimizer times Factor.
type Schedule interface {
	// Factor returns the factor at a step, counted from 0. After its end a schedule keeps its
	// last factor.
	Factor(step int) float64
	// String describes the schedule with its parameters.
	String() string
}

// Constant returns a schedule that keeps the learning rate.
func Constant() Schedule { return constant{} }

// ScheduleFunc returns a schedule whose factor at a step, counted from 0, is that of a function. text
// describes it.
func ScheduleFunc(text string, factor func(step int) float64) Schedule {
	return scheduleFunc{text, factor}
}

type scheduleFunc struct {
	text   string
	factor func(step int) float64
}

func (s scheduleFunc) Factor(step int) float64 { return s.factor(step) }
func (s scheduleFunc) String() string          { return s.text }

type constant struct{}

func (constant) Factor(int) float64 { return 1 }
func (constant) String() string     { return "constant" }

// WarmupCosine raises the learning rate linearly during the first warmup steps (Goyal et al.,
// 2017), and then lowers it along half a cosine to 0 at step total (Loshchilov and Hutter,
// SGDR, 2017):
//
//	factor = (step+1)/warmup                                  for step < warmup
//	factor = (1 + cos(π·(step-warmup)/(total-warmup))) / 2    after that
func WarmupCosine(warmup, total int) Schedule {
	return warmupCosine{max(warmup, 0), max(total, 0)}
}

type warmupCosine struct{ warmup, total int }

func (s warmupCosine) Factor(step int) float64 {
	switch {
	case step < s.warmup:
		return float64(step+1) / float64(s.warmup)
	case step >= s.total:
		return 0
	}
	return cosine(1, 0, float64(step-s.warmup)/float64(s.total-s.warmup))
}

func (s warmupCosine) String() string {
	return fmt.Sprintf("warm-up %d, cosine to %d", s.warmup, s.total)
}

// StepLR multiplies the learning rate by factor after every given number of steps.
func StepLR(every int, factor float64) Schedule { return stepDecay{max(every, 1), factor} }

type stepDecay struct {
	every  int
	factor float64
}

func (s stepDecay) Factor(step int) float64 { return math.Pow(s.factor, float64(step/s.every)) }
func (s stepDecay) String() string {
	return fmt.Sprintf("× %g every %d steps", s.factor, s.every)
}

// MultiStepLR multiplies the learning rate by factor at each of the milestones, which are steps. A
// milestone that is given twice counts twice, as in PyTorch.
func MultiStepLR(factor float64, milestones ...int) Schedule {
	return multiStep{factor, slices.Sorted(slices.Values(milestones))}
}

type multiStep struct {
	factor     float64
	milestones []int // in ascending order
}

func (s multiStep) Factor(step int) float64 {
	passed := sort.SearchInts(s.milestones, step+1)
	return math.Pow(s.factor, float64(passed))
}

func (s multiStep) String() string { return fmt.Sprintf("× %g at steps %v", s.factor, s.milestones) }

// ExponentialLR multiplies the learning rate by factor after each step. PyTorch's is usually advanced
// once an epoch: its factor per step is the n-th root for n steps an epoch.
func ExponentialLR(factor float64) Schedule { return exponential{factor} }

type exponential struct{ factor float64 }

func (s exponential) Factor(step int) float64 { return math.Pow(s.factor, float64(step)) }
func (s exponential) String() string          { return fmt.Sprintf("× %g every step", s.factor) }

// LinearLR changes the factor linearly from start to end over the given number of steps; PyTorch's
// defaults are 1/3, 1 and 5. A start of 0 gives a first step without effect.
func LinearLR(start, end float64, steps int) Schedule { return linear{start, end, max(steps, 0)} }

type linear struct {
	start, end float64
	steps      int
}

func (s linear) Factor(step int) float64 {
	if step >= s.steps {
		return s.end
	}
	return s.start + (s.end-s.start)*float64(step)/float64(s.steps)
}

func (s linear) String() string {
	return fmt.Sprintf("from × %g to × %g in %d steps", s.start, s.end, s.steps)
}

// CosineAnnealingLR moves the factor along half a cosine from 1 to least, a share of the learning rate,
// during the given number of steps (Loshchilov and Hutter, SGDR, 2017):
//
//	factor = least + (1-least)·(1 + cos(π·step/steps))/2
//
// As PyTorch's, it goes on after that, and returns to 1 after as many steps again. Its eta_min is least
// times the learning rate. [WarmupCosine] stays at its end.
func CosineAnnealingLR(steps int, least float64) Schedule { return annealing{max(steps, 1), least} }

type annealing struct {
	steps int
	least float64
}

func (s annealing) Factor(step int) float64 {
	return cosine(1, s.least, math.Mod(float64(step)/float64(s.steps), 2))
}

func (s annealing) String() string {
	return fmt.Sprintf("cosine to × %g in %d steps, and back", s.least, s.steps)
}

// OneCycleLR raises the learning rate from 1/25 of its value to the full value during the first
// 30 % of the steps, and lowers it to 1/250,000 until the last step, both along half a cosine
// (Smith and Topin, Super-Convergence, 2018, with the constants of PyTorch's OneCycleLR). It
// does not change the momentum.
func OneCycleLR(total int) Schedule { return oneCycle{max(total, 1)} }

type oneCycle struct{ total int }

func (s oneCycle) Factor(step int) float64 {
	const rising, first, last = 0.3, 1. / 25, 1. / 25e4
	top := rising*float64(s.total) - 1
	end := float64(s.total) - 1
	at := math.Min(float64(step), end)
	if at <= top {
		return cosine(first, 1, at/top)
	}
	return cosine(1, last, (at-top)/(end-top))
}

func (s oneCycle) String() string { return fmt.Sprintf("one cycle of %d steps", s.total) }

// ReduceLROnPlateauSchedule lowers the learning rate when the validation loss stops falling.
// [ReduceLROnPlateau] returns it. Pass each validation loss to Observe.
type ReduceLROnPlateauSchedule struct {
	patience int
	factor   float64

	now, best float64
	bad       int // validations since the best one
}

// ReduceLROnPlateau multiplies the learning rate by factor when the validation loss has not
// fallen, by at least 0.01 % of its value, for more than patience validations in a row, and
// then starts counting again. It is PyTorch's ReduceLROnPlateau with its defaults.
func ReduceLROnPlateau(patience int, factor float64) *ReduceLROnPlateauSchedule {
	return &ReduceLROnPlateauSchedule{patience: max(patience, 0), factor: factor, now: 1, best: math.Inf(1)}
}

// Observe records a validation loss. NaN is never an improvement.
func (p *ReduceLROnPlateauSchedule) Observe(loss float64) {
	const threshold = 1e-4
	if loss < p.best*(1-threshold) {
		p.best, p.bad = loss, 0
		return
	}
	if p.bad++; p.bad > p.patience {
		p.now *= p.factor
		p.bad = 0
	}
}

// Factor returns the factor after the losses so far; it does not depend on the step.
func (p *ReduceLROnPlateauSchedule) Factor(int) float64 { return p.now }

// String describes the schedule with its parameters.
func (p *ReduceLROnPlateauSchedule) String() string {
	return fmt.Sprintf("× %g after %d validations without a better loss", p.factor, p.patience)
}

// cosine goes from a to b along half a cosine as t goes from 0 to 1.
func cosine(a, b, t float64) float64 { return b + (a-b)*(1+math.Cos(math.Pi*t))/2 }
