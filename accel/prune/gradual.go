package prune

import (
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
)

// Schedule prunes more and more of a model during training; see [Gradual].
type Schedule struct {
	model nn.Module
	all   []*prunable // nil until the model has weights
	o     *options
	final float64
	masks *Masks
}

// Gradual prunes during training, up to the sparsity final. After t updates
//
//	final + (from - final)·(1 - (t - after)/(until - after))³
//
// of the weights are zero (Zhu and Gupta, To Prune, or Not to Prune, 2017): most are pruned early,
// while there are many. [Until] is required; [After], [From], [Every], [PerLayer] and [Except] are
// optional. Training should continue for some time after Until. Weights are selected by magnitude,
// and pruned weights stay zero.
//
// Errors are those of [Magnitude]; errors that occur only during training end it.
func Gradual(model nn.Module, final float64, options ...Option) (*Schedule, error) {
	if err := checkSparsity(final); err != nil {
		return nil, err
	}
	o, err := newOptions("Gradual", options, "Until", "After", "From", "Every", "PerLayer", "Except")
	switch {
	case err != nil:
		return nil, err
	case model == nil:
		return nil, errors.New("prune: Gradual: model is nil")
	case o.until <= o.begin:
		return nil, fmt.Errorf("prune: Gradual: Until(%d) must be greater than After(%d)", o.until, o.begin)
	case o.initial > final:
		return nil, fmt.Errorf("prune: Gradual: the final sparsity %[2]v is less than the initial sparsity %[1]v", o.initial, final)
	}
	return &Schedule{model: model, o: o, final: final}, nil
}

// Sparsity returns the scheduled sparsity after this many updates.
func (s *Schedule) Sparsity(updates int) float64 {
	if updates < s.o.begin {
		return 0
	}
	done := min(float64(updates-s.o.begin)/float64(s.o.until-s.o.begin), 1)
	return s.final + (s.o.initial-s.final)*math.Pow(1-done, 3)
}

// Hold returns an option of accel.Fit that prunes on schedule and keeps pruned weights at zero.
func (s *Schedule) Hold() accel.Option { return accel.AfterStep(s.step) }

// step prunes after an update.
func (s *Schedule) step(updates int) (err error) {
	defer nn.Catch(&err)
	if updates < s.o.begin {
		return nil
	}
	if s.all == nil {
		if s.all, err = selectLayers(s.model, s.o.except); err != nil {
			return err
		}
	}
	// A training that was resumed after the last selection must still select once.
	ended := updates > s.o.until && s.masks != nil
	due := (updates-s.o.begin)%s.o.each == 0 || updates == s.o.until || s.masks == nil
	if ended || !due {
		return s.masks.Apply()
	}
	if s.masks != nil { // so that already pruned weights count as the smallest
		if err := s.masks.Apply(); err != nil {
			return err
		}
	}
	keep, err := smallest(s.all, s.Sparsity(updates), s.o.perLayer)
	if err != nil {
		return err
	}
	if s.masks == nil {
		s.masks, err = newMasks(s.model, s.all, keep)
		return err
	}
	for i := range s.masks.layers {
		s.masks.layers[i].set(keep[i])
	}
	return s.masks.Apply()
}

// Masks returns the current masks; nil before the first selection.
func (s *Schedule) Masks() *Masks { return s.masks }

// String returns the schedule in one line.
func (s *Schedule) String() string {
	text := fmt.Sprintf("from %.3g %% to %.3g %% between updates %d and %d", 100*s.o.initial, 100*s.final, s.o.begin, s.o.until)
	if s.masks != nil {
		text += "; " + s.masks.String()
	}
	return text
}
