package tensor

import (
	"slices"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func TestScalarsAreNoPartOfThePlan(t *testing.T) {
	x := New([]float32{1, 2, 3}, 3)
	x.MulScalar(0.1).AddScalar(2).Data()
	rate := Full(1)
	x.Mul(rate).Data()
	tensors.ResetStats()
	for i := range 10 {
		s := float64(i)
		got := x.MulScalar(s).AddScalar(s).Data()
		if want := []float32{float32(2 * s), float32(3 * s), float32(4 * s)}; !slices.Equal(got, want) {
			t.Errorf("scalar %v: %v, want %v", s, got, want)
		}
		rate.SetData([]float32{float32(s)})
		if got := x.Mul(rate).Data(); got[2] != float32(3*s) {
			t.Errorf("tensor %v: %v", s, got)
		}
	}
	if s := tensors.Stats(); s.PlansMade != 0 {
		t.Errorf("scalars made %d plans", s.PlansMade)
	}
}

func TestEndlessRecordingStaysBounded(t *testing.T) {
	x := Ones(4)
	tensors.ResetStats()
	const ops = 50000
	for range ops {
		x = x.AddScalar(1)
	}
	if s := tensors.Stats(); s.Flushes < 3 {
		t.Errorf("%d ops were run in %d lists", ops, s.Flushes)
	}
	if got := x.Data()[0]; got != ops+1 {
		t.Errorf("got %v", got)
	}
}

func TestGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				x := Full(float64(k), 10)
				y := x.AddScalar(float64(i)).Square()
				if got, want := y.Sum().Item(), 10*float64((k+i)*(k+i)); got != want {
					t.Errorf("goroutine %d: %v, want %v", k, got, want)
				}
			}
		}()
	}
	wg.Wait()
}
