package plots

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// longName is wider than any figure.
var longName = strings.Repeat("a very long name of a class ", 8)

func constant(n int, v float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = v
	}
	return values
}

func manyNames(n int, format string) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(format, i)
	}
	return names
}

// With an accuracy of exactly 1 the axis must end at 100 %, although the moving average of ones
// is slightly more than one.
func TestAccuracyAxisEndsAtOne(t *testing.T) {
	ones := Series{Y: constant(300, 1)}
	svg := Training(TrainingData{Loss: ones, Accuracy: ones, ValidationAccuracy: Series{X: []float64{150, 300}, Y: []float64{1, 1}}}).SVG()
	if !strings.Contains(svg, ">100 %<") || strings.Contains(svg, ">150 %<") {
		t.Error("the axis of accuracies does not end at 100 %")
	}
}

// One diverging step does not flatten the other losses, and is counted.
func TestTrainingWithASpike(t *testing.T) {
	losses := make([]float64, 300)
	for i := range losses {
		losses[i] = 2*math.Exp(-float64(i)/50) + .1
	}
	smooth := Training(TrainingData{Loss: Series{Y: losses}}).SVG()
	losses[150] = 1e5
	spiked := Training(TrainingData{Loss: Series{Y: losses}}).SVG()
	if strings.Contains(smooth, "beyond the axis") {
		t.Error("a curve that only falls is cut")
	}
	if !strings.Contains(spiked, ">1 value beyond the axis<") || strings.Contains(spiked, "k</text>") {
		t.Error("the axis reaches to the spike")
	}
}

// The beginning of a run is not a spike, however far the loss falls.
func TestTrainingKeepsItsBeginning(t *testing.T) {
	losses := make([]float64, 1000)
	for i := range losses {
		losses[i] = 1e4*math.Exp(-float64(i)/5) + .01
	}
	if svg := Training(TrainingData{Loss: Series{Y: losses}}).SVG(); strings.Contains(svg, "beyond the axis") {
		t.Error("the first steps are beyond the axis")
	}
}

func TestHistogramWithAnOutlier(t *testing.T) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	values[500] = 1e6
	f := Hist("weights", values)
	svg := f.SVG()
	if !strings.Contains(svg, ">1 value beyond the axis<") || !strings.Contains(svg, ">−1.0<") {
		t.Error("one value decides the bins of a thousand")
	}
	if text := f.String(); !strings.Contains(text, "to 1\u00a0000\u00a0000") {
		t.Errorf("the text hides the value beyond: %q", text)
	}
}

// The range of a band is interrupted where its line is, and the range of one value is a bar.
func TestBandsAreInterrupted(t *testing.T) {
	nan := math.NaN()
	one := func(y, low, high []float64) [][]interval {
		f := Bands("b", Band{Series: Series{Y: y}, Low: low, High: high})
		sane(t, f)
		return f.kind.(banded).bands[0].ranges(settings{})
	}
	runs := one([]float64{1, 2, nan, 4, 5}, []float64{0, 1, nan, 3, 4}, []float64{2, 3, nan, 5, 6})
	if len(runs) != 2 || len(runs[0]) != 2 || len(runs[1]) != 2 {
		t.Errorf("ranges on both sides of a gap: %v", runs)
	}
	bar := Bands("b", Band{Series: Series{X: []float64{3}, Y: []float64{1}}, Low: []float64{.5}, High: []float64{1.5}}).SVG()
	if !strings.Contains(bar, `fill="#4269d0" fill-opacity=".3"`) {
		t.Error("the range of a single value is not drawn")
	}
}

// Series with the same color differ in their dashes, and a long legend does not take space
// from the data.
func TestManySeries(t *testing.T) {
	var many []Series
	for i := range 30 {
		many = append(many, Series{Name: fmt.Sprintf("learning rate of series %d", i), Y: []float64{float64(i), 1}})
	}
	f := Lines("many", many...)
	legend := f.sections()[0].legend
	seen := map[string]bool{}
	for _, e := range legend {
		seen[fmt.Sprint(e.color, e.dashes)] = true
	}
	if len(seen) != 30 {
		t.Errorf("30 series have %d kinds of lines", len(seen))
	}
	_, rows := layoutLegend(legend, 480)
	_, with := f.points()
	_, without := Lines("one", many[0]).points()
	if grown := with - without; math.Abs(float64(grown-legendLine*vg.Length(rows-1))) > .5 {
		t.Errorf("%d rows of a legend make the figure %v higher", rows, grown)
	}
	if w, h := Lines("many", many...).Size(300, 200).points(); w != 225 || h != 150 {
		t.Errorf("a size that was set became %v × %v", w, h)
	}
}

// A line that covers another one is dashed, so that both can be seen.
func TestEqualSeries(t *testing.T) {
	y := []float64{3, 2, 1, math.NaN(), 1}
	f := Lines("equal", Series{Name: "a", Y: []float64{3, 2, 1}}, Series{Name: "b", Y: []float64{3, 2.001, 1}}, Series{Name: "c", Y: []float64{3, 2.5, 1}}, Series{Name: "d", Y: y}, Series{Name: "e", Y: y})
	var dashed []string
	for _, e := range f.sections()[0].legend {
		if e.dashes != nil {
			dashed = append(dashed, e.name)
		}
	}
	if fmt.Sprint(dashed) != "[b]" { // where there are gaps, they differ
		t.Errorf("dashed: %v", dashed)
	}
	if !strings.Contains(f.SVG(), "stroke-dasharray") {
		t.Error("no dashes in the figure")
	}
	g := Bands("equal", Band{Series: Series{Name: "a", Y: []float64{3, 2, 1}}}, Band{Series: Series{Name: "b", Y: []float64{3, 2, 1}}})
	if g.sections()[0].legend[1].dashes == nil {
		t.Error("the second of two equal bands is not dashed")
	}
}

// Entries in several rows are aligned in columns and do not overlap.
func TestLegendColumns(t *testing.T) {
	var entries []entry
	for i := range 17 {
		entries = append(entries, entry{name: strings.Repeat("w", 1+i%5)})
	}
	places, rows := layoutLegend(entries, 200)
	if rows < 2 {
		t.Fatal("one row")
	}
	style := textStyle(sizeText, ink(1))
	for i, p := range places {
		if p.x+legendSwatch+4+style.Width(p.name) > 200 {
			t.Errorf("entry %d ends beyond the width", i)
		}
		if i > 0 && places[i-1].row == p.row && places[i-1].x+legendSwatch+4+style.Width(places[i-1].name) > p.x {
			t.Errorf("entries %d and %d overlap", i-1, i)
		}
	}
}

// A narrow figure is wide enough for its subtitle.
func TestSubtitleOfNarrowFigures(t *testing.T) {
	for name, f := range map[string]*Figure{
		"confusion": Confusion("three classes", []string{"one", "two", "three"}, [][]int{{3, 1, 0}, {0, 4, 0}, {0, 0, 5}}),
		"heat map":  HeatMap("of a layer with a long name", [][]float64{{1}}, nil, nil).Subtitle("words that say what is seen"),
		"images":    Images(nil).Title("images that nobody has seen").Subtitle("words that say what is seen"),
	} {
		for _, s := range f.sections() {
			for _, words := range []string{s.title, s.subtitle} {
				if !strings.Contains(f.SVG(), ">"+words+"<") {
					t.Errorf("%s: %q is cut", name, words)
				}
			}
		}
	}
}

// Column names that are wider than their cells are vertical and complete.
func TestNamesOfColumns(t *testing.T) {
	for _, n := range []int{12, 30, 50} {
		names := manyNames(n, "class %d")
		counts := make([][]int, n)
		for i := range counts {
			counts[i] = make([]int, n)
			counts[i][i] = 7
		}
		svg := Confusion("c", names, counts).SVG()
		if strings.Contains(svg, "…") {
			t.Errorf("%d classes: a name is cut", n)
		}
		if got := strings.Count(svg, ">class "); got < 2*n {
			t.Errorf("%d classes have %d names", n, got)
		}
	}
}

// The cells fill the height of a figure with long names.
func TestMatrixFillsItsFigure(t *testing.T) {
	f := HeatMap("m", [][]float64{{1, 2, 3}, {4, 5, 6}}, []string{longName, "b"}, []string{"x", longName, "z"})
	_, height := f.points()
	svg := f.SVG()
	lowest := 0.0
	for _, m := range regexp.MustCompile(` y="([0-9.]+)"[^>]*>[1-6]\.0<`).FindAllStringSubmatch(svg, -1) {
		y, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		lowest = max(lowest, y)
	}
	if lowest == 0 || float64(height)-lowest > 40 {
		t.Errorf("the last numbers are at %v of %v", lowest, height)
	}
}

// A matrix of many classes is a small file, and its zeros are not shown.
func TestLargeConfusion(t *testing.T) {
	const n = 150
	counts := make([][]int, n)
	for i := range counts {
		counts[i] = make([]int, n)
		counts[i][i], counts[i][(i+1)%n] = 9, 1
	}
	f := Confusion("c", manyNames(n, "class %d"), counts)
	if size := len(f.SVG()); size > 60e3 {
		t.Errorf("the SVG has %d bytes", size)
	}
	sane(t, f)
}

// Either all cells of a heat map show their numbers or none does.
func TestHeatMapNumbers(t *testing.T) {
	table := make([][]float64, 14)
	for i := range table {
		table[i] = make([]float64, 14)
		for j := range table[i] {
			table[i][j] = 1e-10 * float64(i-j)
		}
	}
	svg := HeatMap("m", table, nil, nil).Size(400, 450).SVG()
	if written := len(regexp.MustCompile(`>−?\de−(9|10)<`).FindAllString(svg, -1)); written != 0 && written < 14*13 {
		t.Errorf("%d of %d cells have numbers", written, 14*14)
	}
}

// Times from nanoseconds to days, in readable units.
func TestTimelineUnits(t *testing.T) {
	for _, tt := range []struct {
		seconds float64
		want    []string
	}{
		{1e-9, []string{">1.00 ns<", ">0.5 ns<"}},
		{5e-6, []string{">5.00 µs<", ">1.0 µs<"}},
		{90, []string{">90.0 s<", ">20 s<"}},
		{100000, []string{">27:46:40<", ">12:00:00<"}},
	} {
		svg := Timeline("t", Lane{"a", []Block{{0, tt.seconds, "x", "k"}}}).SVG()
		for _, want := range tt.want {
			if !strings.Contains(svg, want) {
				t.Errorf("%v s: no %s", tt.seconds, want)
			}
		}
	}
}

// The label of a tick at the end of an axis fits, even if the tick is slightly beyond the end.
func TestLastTickIsWithinTheAxis(t *testing.T) {
	hi := 1.6e-9 * (1 - 1e-12)
	for _, tick := range (linear{count: 8, format: plain}).Ticks(0, hi) {
		if tick.Value > hi {
			t.Errorf("a tick at %v beyond %v", tick.Value, hi)
		}
	}
}

// If the loss diverges, the part before, from which a learning rate is read, remains visible.
func TestLRFinderThatExplodes(t *testing.T) {
	var rates, losses []float64
	for i := range 100 {
		rates = append(rates, math.Pow(10, -7+float64(i)/12.5))
		loss := 2.3 - float64(i)/60
		if i > 80 {
			loss = math.Exp(float64(i - 80))
		}
		losses = append(losses, loss)
	}
	if svg := LRFinder(rates, losses, 1e-3).SVG(); strings.Contains(svg, "k</text>") || !strings.Contains(svg, ">2.0<") {
		t.Error("the axis reaches to the explosion")
	}
}

// The lines of eight devices differ.
func TestColorsOfEightDevices(t *testing.T) {
	one := DeviceData{Name: "GPU", Seconds: []float64{0, 1}, Busy: []float64{90, 91}}
	d := one
	for range 7 {
		d.Others = append(d.Others, one)
	}
	seen := map[string]bool{}
	for _, e := range DeviceUse(d).sections()[0].legend {
		if key := fmt.Sprint(e.color, e.dashes); seen[key] {
			t.Errorf("%s looks like another device", e.name)
		} else {
			seen[key] = true
		}
	}
}

// The text beside the best value is left out in a panel that is too small for it.
func TestNoteInSmallFigure(t *testing.T) {
	var d TrainingData
	for i := range 100 { // too few to be smoothed: thick lines
		d.Loss.Y = append(d.Loss.Y, float64(i%2))
	}
	d.ValidationLoss = Series{X: []float64{25, 50, 75}, Y: []float64{.6, .5, .6}}
	if svg := Training(d).Size(220, 160).SVG(); strings.Contains(svg, ">best 0.5") {
		t.Error("the words lie over the curve")
	}
	d.Loss.Y = append(d.Loss.Y, d.Loss.Y...) // smoothed: the raw line is thin and faint
	if svg := Training(d).SVG(); !strings.Contains(svg, ">best 0.5") {
		t.Error("no words over a faint curve")
	}
}

// Percentages close to 0 or 100 are not rounded to 0 or 100.
func TestRatioNearTheEnds(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0 %", 1e-9: "< 0.1 %", .0005: "0.1 %", .5: "50.0 %", .999996: "> 99.9 %", 1: "100.0 %"} {
		if got := ratio(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

// Vertical axes show most values if one outlier would compress them.
func TestParallelOutlierOfAFew(t *testing.T) {
	s := newUprightScale(Axis{Values: []float64{.3, .31, .35, .4, 900}}, 0, vg.Length(100))
	if s.values.hi > 1 {
		t.Errorf("the axis reaches to %v", s.values.hi)
	}
}
