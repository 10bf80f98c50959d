package history

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/gpu"
)

// trained returns a run of 10 s with 1000 examples whose devices had these histories.
func trained(start time.Time, watts float64, histories ...gpu.History) *Run {
	r := &Run{
		Best: -1, Steps: []Step{{}}, Examples: 1000, Ranks: 1, state: runState{Setup: Setup{LocalRanks: 1, Watts: watts}},
		Epochs: []Epoch{{Steps: 1, began: start, ended: start.Add(10 * time.Second)}}, Time: Timing{Total: 10 * time.Second},
	}
	if len(histories) > 0 {
		r.Utilization, r.OtherUtilization = histories[0], histories[1:]
	}
	return r
}

// An energy is that of counters where there are any, then that of the power, and an assumption only if nothing else is known.
func TestEnergyUse(t *testing.T) {
	start := time.Unix(1000, 0)
	restarted, host, silent := counted("GPU", start, 500, true), counted("CPU", start, 500, true), counted("CPU", start, math.NaN(), false)
	for i := range restarted.Samples {
		if i > 5 {
			restarted.Samples[i].Joules -= 1e6
		}
	}
	host.Host, silent.Host = true, true
	for _, row := range []struct {
		name   string
		run    *Run
		source EnergySource
		joules float64
		want   string
	}{
		{"counter", trained(start, 0, counted("GPU", start, 500, true)), EnergyCounter, 5000, "5 kJ, 5 J per example, from the energy counter of GPU, without the rest of the machine"},
		{"a counter beats an assumption", trained(start, 7, counted("GPU", start, 500, true)), EnergyCounter, 5000, "from the energy counter"},
		{"power", trained(start, 0, counted("GPU", start, 500, false)), EnergySamples, 5000, "about 5 kJ, 5 J per example, from samples of the power of GPU"},
		{"a counter that starts again", trained(start, 0, restarted), EnergySamples, 5000, "about 5 kJ"},
		{"two GPUs", trained(start, 0, counted("GPU", start, 500, true), counted("GPU", start, 100, false)), EnergySamples, 6000, "of GPU and GPU"},
		{"the CPU", trained(start, 0, host), EnergyCounter, 5000, "for all processes of the machine"},
		{"one of two is unknown", trained(start, 7, counted("GPU", start, 500, true), gpu.History{Name: "GPU"}), AssumedEnergy, 70, "an estimate: 70 J, 70 mJ per example, if the mean power is 7 W as assumed"},
		{"no counter", trained(start, 65, silent), AssumedEnergy, 650, "an estimate: 650 J, 650 mJ per example, if the mean power is 65 W as assumed"},
		{"no counter and no assumption", trained(start, 0, silent), UnknownEnergy, math.NaN(), "report neither energy nor power"},
		{"nothing recorded", trained(start, 0), UnknownEnergy, math.NaN(), "MeasureEnergy measures it"},
		{"no run", &Run{}, UnknownEnergy, math.NaN(), "it was not recorded"},
	} {
		e := row.run.EnergyUse()
		if e.Source != row.source || !(math.Abs(e.Joules-row.joules) < 1e-6 || math.IsNaN(e.Joules) && math.IsNaN(row.joules)) || !strings.Contains(e.String(), row.want) {
			t.Errorf("%s: %+v\n%s", row.name, e, e)
		}
		if row.run.Examples > 0 && !math.IsNaN(row.joules) && math.Abs(e.PerExample-row.joules/1000) > 1e-9 {
			t.Errorf("%s: %v J per example", row.name, e.PerExample)
		}
		// The summary has what was measured or assumed, and says which.
		summary := row.run.whereTimeWent()
		if strings.Contains(summary, " J in total") != (row.source == EnergyCounter || row.source == EnergySamples) || strings.Contains(summary, "an estimate") != (row.source == AssumedEnergy) {
			t.Errorf("%s: %s", row.name, summary)
		}
		if card := row.run.Card(); (card.Joules != nil) != (row.source == EnergyCounter || row.source == EnergySamples) {
			t.Errorf("%s: the card has %v", row.name, card.Joules)
		}
	}
	several := trained(start, 0, counted("GPU", start, 500, true))
	several.Ranks, several.state.LocalRanks = 8, 4
	if text := several.EnergyUse().String(); !strings.Contains(text, "which has 4 of 8 ranks") {
		t.Error(text)
	}
}

func TestJoulesText(t *testing.T) {
	for joules, want := range map[float64]string{0: "0 µJ", 1.5e-6: "1.5 µJ", 0.0123: "12.3 mJ", 0.9999: "1 J", 999.4: "999 J", 3.6e6: "3.6 MJ", 7.2e9: "7.2e+03 MJ"} {
		if got := joulesText(joules); got != want {
			t.Errorf("%v: %s, want %s", joules, got, want)
		}
	}
	if got := joulesText(math.NaN()); got != "–" {
		t.Error(got)
	}
}

func TestCost(t *testing.T) {
	r := trained(time.Unix(1000, 0), 360)
	c, err := r.Cost(3.6)
	if err != nil || math.Abs(c.Price-0.01) > 1e-12 || c.Seconds != 10 || c.Energy.Joules != 3600 {
		t.Errorf("%+v, %v", c, err)
	}
	if want := "0.01 for 10 s, if the machine costs 3.6 per hour and only the seconds of the training are paid\nan estimate: 3.6 kJ, 3.6 J per example, if the mean power is 360 W as assumed"; c.String() != want {
		t.Errorf("%s\nwant\n%s", c, want)
	}
	r.Ranks = 8
	if c, err := r.Cost(0); err != nil || c.Price != 0 || !strings.Contains(c.String(), "everything on which the 8 ranks run") {
		t.Errorf("%v, %v", c, err)
	}
	for _, price := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := r.Cost(price); err == nil || !strings.Contains(err.Error(), "must be a number from 0") {
			t.Errorf("%v: %v", price, err)
		}
	}
	var none *Run
	for _, empty := range []*Run{none, {}} {
		if _, err := empty.Cost(1); err == nil || !strings.Contains(err.Error(), "no steps") {
			t.Error(err)
		}
	}
}
