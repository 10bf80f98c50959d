package tune

import "github.com/quernlab/quern/accel/internal/training/option"

// Halving stops unpromising trials: after first units of work, then after factor times as many
// and so on, a trial continues only if its value is among the best 1/factor of all trials that
// came that far. A unit is one [Trial.Report] (Li and others, A System for Massively Parallel
// Hyperparameter Tuning, 2018, without waiting: a trial is compared with earlier ones).
func Halving(first, factor int) Option {
	return Option{option.New(func(o *options) { o.halving = &halving{first, factor} }, "Halving", first, factor).
		Require(first >= 1 && factor >= 2, "first must be at least 1 and factor at least 2")}
}

type halving struct{ first, factor int }

// promotes reports whether a trial continues after its last report.
func (h *halving) promotes(s *Search, t *Trial) bool {
	unit := len(t.Reports)
	if !h.rung(unit) {
		return true
	}
	own := t.Reports[unit-1].Value
	if !finite(own) {
		return false
	}
	all, ahead := 1, 0
	for _, u := range s.before(t) {
		if len(u.Reports) < unit {
			continue
		}
		all++
		if s.better(u.Reports[unit-1].Value, own) {
			ahead++
		}
	}
	return ahead < max(1, all/h.factor)
}

// rung reports whether trials are compared after this many units.
func (h *halving) rung(unit int) bool {
	for at := h.first; at <= unit; at *= h.factor {
		if at == unit {
			return true
		}
	}
	return false
}
