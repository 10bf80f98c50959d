package examine

import (
	"math"
	"strings"
	"testing"
)

// curve returns n values of f.
func curve(n int, f func(i int) float64) (x []float64) {
	for i := range n {
		x = append(x, f(i))
	}
	return x
}

func TestCourse(t *testing.T) {
	falling := func(i int) float64 { return 2.3 * math.Exp(-float64(i)/50) }
	for name, test := range map[string]struct {
		course Course
		want   string // in the finding; "" for none
	}{
		"falling":               {Course{Losses: curve(100, falling), Epochs: curve(10, func(i int) float64 { return falling(10 * i) }), Chance: math.Log(10), Guess: "guessing among 10 classes", Moved: 0.1, Rate: 1e-3, Batch: 64}, ""},
		"few steps":             {Course{Losses: curve(20, func(int) float64 { return 2.3 }), Epochs: curve(2, falling), Chance: math.Log(10), Guess: "guessing among 10 classes", Moved: 1e-9}, ""},
		"one epoch":             {Course{Losses: curve(200, func(int) float64 { return 2.3 }), Epochs: curve(1, falling), Chance: math.Log(10), Guess: "guessing among 10 classes", Moved: 1e-9}, ""},
		"guessing":              {Course{Losses: curve(100, func(int) float64 { return 2.3 }), Epochs: curve(10, func(int) float64 { return 2.3 }), Chance: math.Log(10), Guess: "guessing among 10 classes", Moved: 0.1}, "guessing among 10 classes gives 2.3"},
		"better than guessing":  {Course{Losses: curve(100, func(int) float64 { return 2.1 }), Epochs: curve(10, func(int) float64 { return 2.1 }), Chance: math.Log(10), Guess: "guessing among 10 classes", Moved: 0.1}, ""},
		"own loss that rises":   {Course{Losses: curve(100, func(i int) float64 { return 1 + float64(i) }), Epochs: curve(5, func(i int) float64 { return 1 + float64(20*i) }), Moved: 9, Rate: 3, Batch: 32, Own: true}, ""},
		"as good as the mean":   {Course{Losses: curve(100, func(int) float64 { return 4.1 }), Epochs: curve(10, func(int) float64 { return 4.1 }), Chance: 4, Guess: "always predicting the mean", Moved: 0.1}, "always predicting the mean gives 4"},
		"flat regression":       {Course{Losses: curve(100, func(int) float64 { return 1 }), Epochs: curve(10, func(int) float64 { return 1 }), Moved: 0.1}, "did not fall"},
		"flat, trained before":  {Course{Losses: curve(100, func(int) float64 { return 1 }), Epochs: curve(10, func(int) float64 { return 1 }), Moved: 0.1, Trained: true}, ""},
		"rising":                {Course{Losses: curve(100, func(i int) float64 { return 1 + float64(i) }), Epochs: curve(5, func(i int) float64 { return 1 + float64(20*i) }), Moved: 9, Rate: 3, Batch: 32}, "at most 3, is too high"},
		"rising, batch of 1":    {Course{Losses: curve(100, func(i int) float64 { return 1 + float64(i) }), Epochs: curve(5, func(i int) float64 { return 1 + float64(20*i) }), Moved: 9, Rate: 3, Batch: 1, Trained: true}, ""},
		"hardly moved":          {Course{Losses: curve(100, falling), Epochs: curve(10, falling), Moved: 1e-7, Rate: 1e-8}, "is too low"},
		"oscillating":           {Course{Losses: curve(100, falling), Epochs: curve(12, func(i int) float64 { return 1 + float64(i%2) }), Moved: 1, Rate: 0.5}, "up and down by 1 from epoch to epoch"},
		"noise near the lowest": {Course{Losses: curve(100, falling), Epochs: curve(12, func(i int) float64 { return 0.01 * (1 + float64(i%2)) }), Moved: 1, Rate: 0.5}, ""},
		"not a number":          {Course{Losses: curve(100, func(int) float64 { return math.NaN() }), Epochs: curve(12, falling), Moved: 1}, ""},
		"nothing":               {Course{}, ""},
	} {
		found := strings.Join(test.course.Find(), "\n")
		if test.want == "" && found != "" || !strings.Contains(found, test.want) {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
	}
}

func TestGradients(t *testing.T) {
	of := func(rms ...float64) (all []Gradient) {
		for i, v := range rms {
			all = append(all, Gradient{string(rune('a' + i)), v})
		}
		return all
	}
	for name, test := range map[string]struct {
		gradients []Gradient
		want      string
	}{
		"even":       {of(1e-3, 2e-3, 1e-3, 5e-3), ""},
		"vanishing":  {of(1e-9, 1e-6, 1e-4, 1e-2), "vanishes"},
		"exploding":  {of(1e6, 1e4, 1e2, 1), "explodes"},
		"two layers": {of(1e-9, 1), ""},
		"frozen":     {of(0, 1, 1, 1), ""},
		"undefined":  {of(math.NaN(), 1, 1, math.NaN()), ""},
	} {
		if found := strings.Join(Gradients(test.gradients), "\n"); test.want == "" && found != "" || !strings.Contains(found, test.want) {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
	}
}

func TestInputs(t *testing.T) {
	for name, test := range map[string]struct {
		batch      Batch
		raw, image bool
		want       string
	}{
		"standardized":      {Batch{Shape: []int{2}, X: []float64{-1, 1, 2, -0.5}}, true, false, ""},
		"a year":            {Batch{Shape: []int{2}, X: []float64{1, 1990, 0, 2010}, Columns: []string{"sex", "year"}}, true, false, "column 1, year, are large, 2e+03"},
		"normalized first":  {Batch{Shape: []int{2}, X: []float64{1, 1990, 0, 2010}}, false, false, ""},
		"bytes":             {Batch{Shape: []int{1, 2, 2}, X: []float64{0, 255, 3, 200}}, true, true, "divide them by 255"},
		"counts":            {Batch{Shape: []int{1, 2, 2}, X: []float64{-900, 4000, 3, 200}}, true, true, "subtract the mean"},
		"channels last":     {Batch{Shape: []int{32, 32, 3}, X: []float64{1}}, true, true, "images have the channels first, [3 32 32]"},
		"a table, no image": {Batch{Shape: []int{32, 32, 3}, X: []float64{1}}, true, false, ""},
		"tiny":              {Batch{Shape: []int{1}, X: []float64{1e-6, -1e-6}}, true, false, "are small, 1e-06"},
		"zeros":             {Batch{Shape: []int{1}, X: []float64{0, 0}}, true, false, ""},
		"nothing":           {Batch{Shape: []int{1}}, true, false, ""},
	} {
		if found := strings.Join(Inputs(test.batch, test.raw, test.image), "\n"); test.want == "" && found != "" || !strings.Contains(found, test.want) {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
	}
}
