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
func Constant() Schedule { return scheduleFunc{"constant", func(int) float64 { return 1 }} }

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

// WarmupCosine raises the learning rate linearly during the first warmup steps (Goyal et al.,
// 2017), and then lowers it along half a cosine to 0 at step total (Loshchilov and Hutter,
// SGDR, 2017):
//
//	factor = (step+1)/warmup                                  for step < warmup
//	factor = (1 + cos(π·(step-warmup)/(total-warmup))) / 2    after that
func WarmupCosine(warmup, total int) Schedule {
	warmup, total = max(warmup, 0), max(total, 0)
	return scheduleFunc{fmt.Sprintf("warm-up %d, cosine to %d", warmup, total), func(step int) float64 {
		switch {
		case step < warmup:
			return float64(step+1) / float64(warmup)
		case step >= total:
			return 0
		}
		return cosine(1, 0, float64(step-warmup)/float64(total-warmup))
	}}
}

// StepLR multiplies the learning rate by factor after every given number of steps.
func StepLR(every int, factor float64) Schedule {
	every = max(every, 1)
	return scheduleFunc{fmt.Sprintf("× %g every %d steps", factor, every), func(step int) float64 {
		return math.Pow(factor, float64(step/every))
	}}
}

// MultiStepLR multiplies the learning rate by factor at each of the milestones, which are steps. A
// milestone that is given twice counts twice, as in PyTorch.
func MultiStepLR(factor float64, milestones ...int) Schedule {
	milestones = slices.Sorted(slices.Values(milestones))
	return scheduleFunc{fmt.Sprintf("× %g at steps %v", factor, milestones), func(step int) float64 {
		return math.Pow(factor, float64(sort.SearchInts(milestones, step+1))) // those that have passed
	}}
}

// ExponentialLR multiplies the learning rate by factor after each step. PyTorch's is usually advanced
// once an epoch: its factor per step is the n-th root for n steps an epoch.
func ExponentialLR(factor float64) Schedule {
	return scheduleFunc{fmt.Sprintf("× %g every step", factor), func(step int) float64 { return math.Pow(factor, float64(step)) }}
}

// LinearLR changes the factor linearly from start to end over the given number of steps; PyTorch's
// defaults are 1/3, 1 and 5. A start of 0 gives a first step without effect.
func LinearLR(start, end float64, steps int) Schedule {
	steps = max(steps, 0)
	return scheduleFunc{fmt.Sprintf("from × %g to × %g in %d steps", start, end, steps), func(step int) float64 {
		if step >= steps {
			return end
		}
		return start + (end-start)*float64(step)/float64(steps)
	}}
}

// CosineAnnealingLR moves the factor along half a cosine from 1 to least, a share of the learning rate,
// during the given number of steps (Loshchilov and Hutter, SGDR, 2017):
//
//	factor = least + (1-least)·(1 + cos(π·step/steps))/2
//
// As PyTorch's, it goes on after that, and returns to 1 after as many steps again. Its eta_min is least
// times the learning rate. [WarmupCosine] stays at its end.
func CosineAnnealingLR(steps int, least float64) Schedule {
	steps = max(steps, 1)
	return scheduleFunc{fmt.Sprintf("cosine to × %g in %d steps, and back", least, steps), func(step int) float64 {
		return cosine(1, least, math.Mod(float64(step)/float64(steps), 2))
	}}
}

// OneCycleLR raises the learning rate from 1/25 of its value to the full value during the first
// 30 % of the steps, and lowers it to 1/250,000 until the last step, both along half a cosine
// (Smith and Topin, Super-Convergence, 2018, with the constants of PyTorch's OneCycleLR). It
// does not change the momentum.
func OneCycleLR(total int) Schedule {
	total = max(total, 1)
	return scheduleFunc{fmt.Sprintf("one cycle of %d steps", total), func(step int) float64 {
		const rising, first, last = 0.3, 1. / 25, 1. / 25e4
		top := rising*float64(total) - 1
		end := float64(total) - 1
		at := math.Min(float64(step), end)
		if at <= top {
			return cosine(first, 1, at/top)
		}
		return cosine(1, last, (at-top)/(end-top))
	}}
}

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
