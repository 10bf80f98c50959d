package prune

import (
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
)

// Schedule prunes more and more of a model while it is trained. [Gradual] makes it.
type Schedule struct {
	model nn.Module
	all   []*product // nil until the model has weights
	o     *options
	final float64
	masks *Masks
}

// Gradual prunes during training, up to this share: after t updates
//
//	final + (from - final)·(1 - (t - after)/(until - after))³
//
// of the weights are zero (Zhu and Gupta, To Prune, or Not to Prune, 2017): many while
// there are many, few in the end. [Until] must be given; [After], [From], [Every],
// [PerLayer] and [Except] may be. The training should go on for a while behind Until.
// Weights are chosen by magnitude, and what is pruned stays so.
//
// Errors are as those of [Magnitude]; those that only the training shows end it.
func Gradual(model nn.Module, final float64, options ...Option) (*Schedule, error) {
	if err := checkSparsity(final); err != nil {
		return nil, err
	}
	o, err := newOptions(options)
	switch {
	case err != nil:
		return nil, err
	case model == nil:
		return nil, errors.New("prune: there is no model")
	case o.until <= o.begin:
		return nil, fmt.Errorf("prune: Gradual begins after %d updates and is to end after %d: give Until(updates), behind After(updates)", o.begin, o.until)
	case o.initial > final:
		return nil, fmt.Errorf("prune: Gradual is to go from %v to %v, and cannot give weights back", o.initial, final)
	}
	return &Schedule{model: model, o: o, final: final}, nil
}

// Sparsity is the share that is pruned after so many updates.
func (s *Schedule) Sparsity(updates int) float64 {
	if updates < s.o.begin {
		return 0
	}
	done := min(float64(updates-s.o.begin)/float64(s.o.until-s.o.begin), 1)
	return s.final + (s.o.initial-s.final)*math.Pow(1-done, 3)
}

// Hold is an option of accel.Fit that prunes as planned and keeps what is pruned at
// zero.
func (s *Schedule) Hold() accel.Option { return accel.AfterStep(s.step) }

// step prunes after an update.
func (s *Schedule) step(updates int) (err error) {
	defer nn.Catch(&err)
	if updates < s.o.begin {
		return nil
	}
	if s.all == nil {
		if s.all, err = chosen(s.model, s.o.except); err != nil {
			return err
		}
	}
	// A training that was resumed behind the last choice must choose too.
	ended := updates > s.o.until && s.masks != nil
	due := (updates-s.o.begin)%s.o.each == 0 || updates == s.o.until || s.masks == nil
	if ended || !due {
		return s.masks.Apply()
	}
	if s.masks != nil { // so that what is pruned is the smallest
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

// Masks are those chosen last; nil before the first choice.
func (s *Schedule) Masks() *Masks { return s.masks }

// String is the schedule in a line.
func (s *Schedule) String() string {
	text := fmt.Sprintf("from %.3g %% to %.3g %% between updates %d and %d", 100*s.o.initial, 100*s.final, s.o.begin, s.o.until)
	if s.masks != nil {
		text += "; " + s.masks.String()
	}
	return text
}
