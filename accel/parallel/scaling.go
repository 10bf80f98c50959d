package parallel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Scaling is how fast several ranks compute. Notebooks display it as a figure, with a line for the speed without any loss, and a table.
type Scaling []ScalingPoint

// ScalingPoint is the measurement of a number of ranks.
type ScalingPoint struct {
	Ranks    int     // how many computed
	Examples float64 // of all of them, per second
}

// MeasureScaling calls measure on 1, 2, 3 … ranks of a group, up to all, and returns their speeds. measure computes something on the
// ranks of the group that it gets, such as a training with accel.DataParallel, and returns the number of examples of all of them together. A
// first call, which may allocate memory and compile kernels, is not measured. All ranks call MeasureScaling at the same time and get the
// same result; those that do not take part wait. sizes are the numbers of ranks to measure; without any, all are.
//
//	scaling, err := parallel.MeasureScaling(ctx, group, func(ctx context.Context, group *parallel.Group) (int, error) {
//		run, err := accel.Fit(ctx, newModel(), train, accel.Steps(20), accel.BatchSize(256), accel.DataParallel(group), accel.Quiet())
//		return run.Examples, err
//	})
func MeasureScaling(ctx context.Context, g *Group, measure func(context.Context, *Group) (examples int, err error), sizes ...int) (Scaling, error) {
	if err := requireGroup(ctx, g, "MeasureScaling"); err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		for n := range g.Size() {
			sizes = append(sizes, n+1)
		}
	}
	var s Scaling
	for _, n := range sizes {
		if n < 1 || n > g.Size() {
			return nil, fmt.Errorf("parallel: MeasureScaling: %d of %d ranks: the number must be from 1 to the size of the group", n, g.Size())
		}
	}
	for _, n := range sizes {
		speed, err := g.measureSpeed(ctx, n, measure)
		if err != nil {
			return s, fmt.Errorf("parallel: MeasureScaling: %d ranks: %w", n, err)
		}
		s = append(s, ScalingPoint{n, speed})
	}
	return s, nil
}

// measureSpeed returns the examples per second of the first ranks.
func (g *Group) measureSpeed(ctx context.Context, n int, measure func(context.Context, *Group) (int, error)) (speed float64, err error) {
	members := []int{g.Rank()}
	if g.Rank() < n {
		members = nil
		for r := range n {
			members = append(members, r)
		}
	}
	sub := g
	if g.Size() > 1 {
		if sub, err = g.subgroup(ctx, members); err != nil {
			return 0, err
		}
	}
	if g.Rank() < n {
		if _, err = measure(ctx, sub); err == nil {
			begin := time.Now()
			var examples int
			examples, err = measure(ctx, sub)
			speed = float64(examples) / time.Since(begin).Seconds()
			if err == nil && examples < 1 {
				err = fmt.Errorf("measure returned %d examples, which must be positive", examples)
			}
		}
	}
	if sub != g {
		err = errors.Join(err, sub.Close())
	}
	if err != nil {
		g.Fail(err)
		return 0, err
	}
	speeds, err := gatherJSON(ctx, g, speed)
	if err != nil {
		return 0, err
	}
	return speeds[0], nil
}

// Efficiency returns the speed at an index relative to that of the first measurement for as many ranks, from 0 to about 1.
func (s Scaling) Efficiency(i int) float64 {
	return s[i].Examples / float64(s[i].Ranks) / (s[0].Examples / float64(s[0].Ranks))
}

// Figure draws the speed over the number of ranks, and that without any loss.
func (s Scaling) Figure() *plots.Figure {
	measured, ideal := plots.Series{Name: "measured"}, plots.Series{Name: "without loss"}
	for _, p := range s {
		measured.X, measured.Y = append(measured.X, float64(p.Ranks)), append(measured.Y, p.Examples)
		ideal.X, ideal.Y = append(ideal.X, float64(p.Ranks)), append(ideal.Y, s[0].Examples/float64(s[0].Ranks)*float64(p.Ranks))
	}
	return plots.Lines("Examples per second", measured, ideal).XLabel("ranks")
}

// Report returns the figure with a table below it.
func (s Scaling) Report() *display.Report {
	r := new(display.Report)
	if len(s) > 1 {
		r.Figure(s.Figure())
	}
	r.Table("ranks", "examples per second", "speedup", "efficiency")
	for i, p := range s {
		r.Row(p.Ranks, fmt.Sprintf("%.0f", p.Examples), fmt.Sprintf("%.2f", p.Examples/s[0].Examples), fmt.Sprintf("%.0f %%", 100*s.Efficiency(i)))
	}
	return r
}

// String returns the table as text.
func (s Scaling) String() string { return s.Report().String() }
