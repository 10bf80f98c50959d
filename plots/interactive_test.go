package plots

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// content is what the JavaScript of package widgets reads.
type content struct {
	SVG, Text string
	Panels    []struct {
		Title     string
		Box, Data [4]float64
		X, Y      struct {
			Label, Unit string
			Min, Max    float64
			Log         bool
		}
		Series []struct {
			Name, Color   string
			Radius, Band  float64
			Dashes        []float64
			Points        []*float64
			Low, High     []*float64
			Area, Opacity float64
		}
	}
}

func interactiveOf(t *testing.T, f *Figure) (c content, csv string) {
	t.Helper()
	i := f.Interactive()
	data, err := json.Marshal(i.View)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c, i.CSV()
}

func values(points []*float64) (all []float64) {
	for _, p := range points {
		if p == nil {
			all = append(all, -1)
		} else {
			all = append(all, *p)
		}
	}
	return all
}

func TestInteractiveCurves(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name   string
		figure *Figure
		series string // names, in the order in which they are drawn
		points []float64
		csv    string // its second line
	}{
		{"one line is named by its axis", Line("loss", []float64{3, 2, 1}).YLabel("nats"), "nats", []float64{0, 3, 1, 2, 2, 1}, "nats,nats,0,3"},
		{"one line without labels is named by the title", Line("loss", []float64{0.5}), "loss", []float64{0, 0.5}, "loss,loss,0,0.5"},
		{"a gap stays a gap", Line("x", []float64{1, nan, 3}), "x", []float64{0, 1, -1, -1, 2, 3}, "x,x,0,1"},
		{"names are those of the legend", Lines("x", Series{Name: "a", Y: []float64{1}}, Series{Name: "b", Y: []float64{2}}), "a b", []float64{0, 1}, "x,a,0,1"},
		{"dots are points", Scatter("x", []float64{1, 2}, []float64{3, 4}), "x", []float64{1, 3, 2, 4}, "x,x,1,3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, csv := interactiveOf(t, test.figure)
			var names []string
			var first []float64
			for _, p := range c.Panels {
				for _, s := range p.Series {
					names = append(names, s.Name)
					if first == nil {
						first = values(s.Points)
					}
				}
			}
			if got := strings.Join(names, " "); got != test.series || !slices.Equal(first, test.points) {
				t.Errorf("series %q with %v, want %q with %v", got, first, test.series, test.points)
			}
			lines := strings.Split(strings.TrimSpace(csv), "\n")
			if lines = append(lines, ""); lines[0] != "panel,series,x,y" || lines[1] != test.csv {
				t.Errorf("CSV %q, want the line %q", csv, test.csv)
			}
			if test.figure.String() != c.Text || !strings.Contains(c.SVG, `<g data-panel="0">`) && len(c.Panels) > 0 {
				t.Errorf("text %q, SVG %.300s", c.Text, c.SVG)
			}
		})
	}
}

// The training figure has two panels with the same names, whose dots, ranges and units belong to their curves.
func TestInteractiveTraining(t *testing.T) {
	n := 5000
	loss, accuracy, steps := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		steps[i], loss[i], accuracy[i] = float64(i+1), 2/float64(i+1), float64(i)/float64(n)
	}
	c, csv := interactiveOf(t, Training(TrainingData{
		Loss: Series{X: steps, Y: loss}, Accuracy: Series{X: steps, Y: accuracy},
		ValidationLoss: Series{X: []float64{1000, 2000}, Y: []float64{.5, .25}}, ValidationAccuracy: Series{X: []float64{1000, 2000}, Y: []float64{.5, .75}},
	}))
	if len(c.Panels) != 2 {
		t.Fatalf("%d panels", len(c.Panels))
	}
	for i, p := range c.Panels {
		var names []string
		for _, s := range p.Series {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, ", "); got != "train (raw), train, validation" {
			t.Errorf("panel %d has %s", i, got)
		}
		checks := p.Series[2]
		if want := [][]float64{{1000, .5, 2000, .25}, {1000, 50, 2000, 75}}[i]; !slices.Equal(values(checks.Points), want) || checks.Radius == 0 {
			t.Errorf("validation of panel %d: %v, radius %v", i, values(checks.Points), checks.Radius)
		}
		if want := []string{"", " %"}[i]; p.Y.Unit != want {
			t.Errorf("panel %d has the unit %q", i, p.Y.Unit)
		}
		if p.Data[0] < p.Box[0] || p.Data[1] < p.Box[1] || p.Data[2] > p.Box[2] || p.Data[3] > p.Box[3] || p.Data[2]-p.Data[0] < 100 {
			t.Errorf("the data of panel %d are in %v of %v", i, p.Data, p.Box)
		}
		if points := len(p.Series[0].Points) / 2; points > 4*maxColumns {
			t.Errorf("%d points for the screen", points)
		}
	}
	if lines := strings.Count(csv, "\n"); lines != 1+4*n+4 { // raw and smoothed, in two panels, and four validations
		t.Errorf("the CSV has %d lines", lines)
	}
}

func TestInteractiveWithoutCurves(t *testing.T) {
	for _, f := range []*Figure{{}, Line("x", nil), Confusion("x", []string{"a", "b"}, [][]int{{1, 0}, {0, 1}})} {
		if f.Interactive() != nil {
			t.Errorf("%v is interactive", f)
		}
	}
}

// A dashed line stands for the same thing in all panels.
func TestInteractiveTimes(t *testing.T) {
	three := []float64{1, 2, 3}
	c, _ := interactiveOf(t, DeviceUse(DeviceData{Seconds: []float64{0, 30, 60}, Busy: three, ProcessBusy: three, Memory: three, MemoryTotal: 2 << 30, ProcessMem: three}))
	for i, want := range []string{"all processes, this process", "memory, bytes of 2.15e9, this process"} {
		p := c.Panels[i]
		var names []string
		for _, s := range p.Series {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, ", "); got != want || p.X.Unit != " s" || p.Series[0].Area == 0 {
			t.Errorf("panel %d has %q in %q", i, got, p.X.Unit)
		}
	}
}

func TestInteractiveBands(t *testing.T) {
	c, _ := interactiveOf(t, Bands("x", Band{Series: Series{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}, Low: []float64{2, 3}, High: []float64{4, 5}}))
	s := c.Panels[0].Series[0]
	if low, high := values(s.Low), values(s.High); !slices.Equal(low, []float64{1, 2, 2, 3}) || !slices.Equal(high, []float64{1, 4, 2, 5}) || s.Band == 0 {
		t.Errorf("range from %v to %v, opacity %v", low, high, s.Band)
	}
}
