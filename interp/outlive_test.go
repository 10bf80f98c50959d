package interp_test

import (
	"context"
	"testing"

	"github.com/quernlab/quern/interp"
)

// A result reports whether goroutines or timers of the cell outlive it.
func TestResultKnowsOfGoroutines(t *testing.T) {
	t.Parallel()
	s, err := interp.New()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, row := range []struct {
		cell string
		want bool
	}{
		{"end := make(chan int)", false},
		{"go func() { <-end }()", true},
		{"var ended sync.WaitGroup; ended.Go(func() { <-end })", true},
		{"timer := time.AfterFunc(time.Hour, func() {})", true},
		{"go func() { <-end }(); panic(1)", true},
		{"1 + undefined", false},
		{"close(end); ended.Wait()", false},
	} {
		result, err := s.Execute(context.Background(), i+1, row.cell)
		if result.Goroutines != row.want {
			t.Errorf("%s: %v, error %v", row.cell, result.Goroutines, err)
		}
	}
}
