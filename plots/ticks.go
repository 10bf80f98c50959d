package plots

import (
	"math"

	"gonum.org/v1/plot"
)

// maxTicks bounds every tick loop: near the ends of the float64 range, adding a step may not
// change the value.
const maxTicks = 100

// linear is a [plot.Ticker] with about count ticks at multiples of 1, 2 or 5 times a power of
// ten. gonum's ticker does not terminate if max−min overflows.
type linear struct {
	count  int
	format func(v, step float64) string
	whole  bool // ticks at whole numbers only
	offset bool // labels give the distance from offsetOf, which the axis names
}

func (t linear) Ticks(lo, hi float64) []plot.Tick {
	step := niceStep(hi/float64(t.count) - lo/float64(t.count))
	if t.whole {
		step = max(step, 1)
	}
	format := t.format
	if t.offset {
		if offset := offsetOf(lo, hi); offset != 0 {
			format = func(v, step float64) string { return t.format(v-offset, step) }
		}
	}
	return stepped(lo, hi, step, format)
}

// stepped returns ticks at the multiples of step from lo to hi.
func stepped(lo, hi, step float64, format func(v, step float64) string) []plot.Tick {
	if !(step > 0) || math.IsInf(step, 0) || !(hi > lo) {
		return []plot.Tick{{Value: lo, Label: format(lo, math.Abs(lo))}}
	}
	var ticks []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for i := range maxTicks {
		v := (first + float64(i)) * step
		if v > hi+step*1e-9 {
			break
		}
		if v == 0 {
			v = 0 // Ceil of −1e−9 is −0
		}
		// gonum reserves space for a label only if its tick is within the axis.
		v = min(max(v, lo), hi)
		ticks = append(ticks, plot.Tick{Value: v, Label: format(v, step)})
	}
	return ticks
}

// niceStep returns the multiple 1, 2 or 5 of a power of ten that is nearest to raw.
func niceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	switch r := raw / power; {
	case r < 1.5:
		return power
	case r < 3.5:
		return 2 * power
	case r < 7.5:
		return 5 * power
	}
	return 10 * power
}

// timed is a [plot.Ticker] for seconds, with steps such as 15 s or 5 min.
type timed struct{ count int }

func (t timed) Ticks(lo, hi float64) []plot.Tick {
	raw := (hi - lo) / float64(t.count)
	step := niceStep(raw)
	if raw >= 3 {
		for _, s := range [...]float64{5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
			if s >= raw*.75 {
				step = s
				break
			}
		}
	}
	return stepped(lo, hi, step, clock)
}

// logarithmic is a [plot.Ticker] for a logarithmic axis: powers of ten, with 2 and 5 where they
// fit. Ticks without a label are minor ticks.
type logarithmic struct{ count int }

func (t logarithmic) Ticks(lo, hi float64) []plot.Tick {
	if !(lo > 0) || !(hi > lo) {
		return nil
	}
	decades := math.Log10(hi) - math.Log10(lo)
	if decades < .7 { // too few powers of ten to label
		ticks := linear{count: t.count, format: plain}.Ticks(lo, hi)
		if len(ticks) > 0 && ticks[0].Value <= 0 {
			ticks = ticks[1:]
		}
		return ticks
	}
	every := max(1, math.Ceil(decades/float64(t.count)))
	within := decades < 2.5 && 3*decades <= 2*float64(t.count) // labels within a decade
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range [...]float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) || v == 0 || math.IsInf(v, 0) {
				continue
			}
			switch {
			case m == 1 && math.Mod(e, every) == 0, m != 1 && within:
				ticks = append(ticks, plot.Tick{Value: v, Label: logLabel(m, e)})
			case m == 1:
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// logLabel formats m·10^e.
func logLabel(m, e float64) string {
	v := m * math.Pow(10, e)
	if e < -3 || e >= 15 {
		return scientific(v, 0)
	}
	return plain(v, math.Pow(10, e))
}

// unlabeled keeps the grid lines of a ticker but removes its labels.
type unlabeled struct{ plot.Ticker }

func (t unlabeled) Ticks(lo, hi float64) []plot.Tick {
	ticks := t.Ticker.Ticks(lo, hi)
	for i := range ticks {
		ticks[i].Label = ""
	}
	return ticks
}
