package accel

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
)

func TestAssumePowerInFit(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(10))
	for _, watts := range []float64{0, -5, math.NaN(), math.Inf(1)} {
		if _, err := Fit(t.Context(), model, train, AssumePower(watts), Quiet()); err == nil || !strings.Contains(err.Error(), "must be a positive number of watts") {
			t.Errorf("%v W: %v", watts, err)
		}
	}
	for _, options := range [][]Option{{AssumePower(40)}, {MeasureEnergy()}, {MeasureEnergy(), Live(Power)}, {AssumePower(40), Track(t.TempDir())}} {
		run, err := Fit(t.Context(), model, train, append(options, Epochs(1), Quiet())...)
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Utilization.Samples) == 0 {
			t.Errorf("%v: nothing was recorded", options)
		}
		e := run.EnergyUse()
		if e.Source == history.AssumedEnergy && math.Abs(e.Joules-40*run.Time.Total.Seconds()) > 1e-9 {
			t.Errorf("%v: %v", options, e)
		}
		if assumed := options[0].String() == "AssumePower(40)"; !assumed && e.Source == history.AssumedEnergy || assumed && e.Source == history.UnknownEnergy {
			t.Errorf("%v: %v", options, e)
		}
	}
	plain, err := Fit(t.Context(), model, train, Epochs(1), Quiet())
	if err != nil || len(plain.Utilization.Samples) > 0 || strings.Contains(plain.Summary(), " J") {
		t.Errorf("%v, %v", err, plain.Summary())
	}
}
