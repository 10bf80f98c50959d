package accel

import (
	"errors"
	"fmt"
	"math"
)

// Mixup trains on mixtures of examples (Zhang et al., arXiv:1710.09412): each batch is mixed
// with a permutation of itself,
//
//	x = λ·x + (1-λ)·x',   loss = λ·loss(y) + (1-λ)·loss(y')
//
// where λ is drawn for each batch from the distribution Beta(alpha, alpha): 0.2 mixes a little,
// 1 evenly. The mixing runs on the device; [Seed] determines the random numbers. Training
// accuracy is measured against y. Mixup needs numeric examples, not tokens.
func Mixup(alpha float64) Option {
	return mixing(fmt.Sprintf("Mixup(%g)", alpha), mixer{alpha: alpha})
}

// CutMix trains on images with a rectangle of another image (Yun et al., arXiv:1905.04899): each
// batch is combined with a permutation of itself. A share of about 1-λ of the area comes from the
// other image, at the same place, where λ is drawn for each batch from the distribution
// Beta(alpha, alpha), and the loss is that of [Mixup] with the exact share of the area. The
// rectangle is that of torchvision's CutMix: its center is anywhere, so a part of it may be
// outside. It needs examples of shape [C, H, W] or [H, W].
func CutMix(alpha float64) Option {
	return mixing(fmt.Sprintf("CutMix(%g)", alpha), mixer{alpha: alpha, cut: true})
}

func mixing(text string, m mixer) Option {
	return fitOption(text, func(c *options) error {
		switch {
		case !(m.alpha > 0) || math.IsInf(m.alpha, 1):
			return fmt.Errorf("accel: %s: alpha must be positive and finite", text)
		case c.mixer.alpha > 0 && c.mixer.cut != m.cut:
			return errors.New("accel: Mixup and CutMix cannot be combined: use one of them")
		}
		c.mixer = m
		return nil
	})
}
