package plots

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"strings"
	"testing"
)

// awkward is data that are difficult to draw.
var awkward = map[string][]float64{
	"nil":             nil,
	"empty":           {},
	"one":             {2},
	"one NaN":         {math.NaN()},
	"all NaN":         {math.NaN(), math.NaN(), math.NaN()},
	"NaN inside":      {1, math.NaN(), 2, 3},
	"infinite":        {1, math.Inf(1), 2, math.Inf(-1), 3},
	"all infinite":    {math.Inf(1), math.Inf(1)},
	"constant":        {3, 3, 3},
	"zero":            {0, 0},
	"minus zero":      {math.Copysign(0, -1), 0},
	"negative":        {-1, -2, -3},
	"overflow":        {-math.MaxFloat64, math.MaxFloat64},
	"nearly overflow": {-1e300, 1e300, 1e307},
	"denormal":        {math.SmallestNonzeroFloat64, 2 * math.SmallestNonzeroFloat64, 0},
	"tiny":            {1e-290, 2e-290},
	"neighbors":       {1, math.Nextafter(1, 2), 1},
	"far neighbors":   {1e300, math.Nextafter(1e300, 0)},
	"huge and tiny":   {1e-300, 1, 1e300},
	"two":             {0, 1},
}

// figuresOf returns a figure of each kind with the same data.
func figuresOf(y []float64) map[string]*Figure {
	names := make([]string, len(y))
	counts := make([][]int, 0)
	var table [][]float64
	var classes []int
	for i, v := range y {
		names[i] = fmt.Sprint(i)
		counts = append(counts, []int{int(v), i})
		table = append(table, y[:i+1])
		classes = append(classes, int(v))
	}
	device := DeviceData{Seconds: y, Busy: y, ProcessBusy: y, Memory: y, ProcessMem: y, Watts: y, Epochs: y}
	if len(y) > 0 {
		device.MemoryTotal, device.WattsLimit, device.Joules = y[0], y[len(y)-1], y[0]
	}
	return map[string]*Figure{
		"line":         Line("line", y),
		"line log":     Line("line", y).LogX().LogY(),
		"lines xy":     Lines("lines", Series{Name: "a", X: y, Y: y}, Series{Name: "b", X: y}, Series{Name: "c", Y: y}),
		"scatter":      Scatter("scatter", y, y),
		"scatter log":  Scatter("scatter", y, y).LogX().LogY(),
		"histogram":    Hist("histogram", y),
		"bars":         Bar("bars", names, y),
		"waterfall":    Waterfall("waterfall", names, y),
		"confusion":    Confusion("confusion", names[:min(len(names), 2)], counts),
		"heat map":     HeatMap("heat", table, names, nil),
		"images":       Images(make([]image.Image, min(len(y), 3)), names...),
		"predictions":  Predictions("predictions", make([]image.Image, min(len(y), 5)), classes, nil, names),
		"rate finder":  LRFinder(y, y, math.NaN()),
		"training":     Training(TrainingData{Loss: Series{Y: y}, ValidationLoss: Series{X: y, Y: y}, Accuracy: Series{Y: y}, ValidationAccuracy: Series{X: y, Y: y}}),
		"training log": Training(TrainingData{Loss: Series{X: y, Y: y}, ValidationLoss: Series{Y: y}, Total: 1e308}).LogX().LogY(),
		"device":       DeviceUse(device),
		"stack":        Stack(nil, Line("one", y)),
	}
}

func TestBadValues(t *testing.T) {
	for data, y := range awkward {
		for kind, f := range figuresOf(y) {
			t.Run(kind+"/"+data, func(t *testing.T) {
				f.Size(120, 80)
				saneSVG(t, f)
				if kind == "line" || kind == "training log" {
					sane(t, f) // also the PNG, for the kinds with the most marks
				}
			})
		}
	}
}

// Figures must report values that are not drawable correctly.
func TestCounts(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name   string
		figure *Figure
		want   []string // in the SVG
		text   string
	}{
		{"empty line", Line("line", nil), []string{">no data<"}, "line: no data"},
		{"all NaN", Line("line", []float64{nan, nan}), []string{">no data<", ">2 non-finite<"}, "line: 2 points, none of which can be drawn"},
		{"one", Line("line", []float64{2.5}), nil, "line: 1 point at 2.50"},
		{"constant", Line("line", []float64{3, 3}), nil, "line: 2 points, all 3"},
		{"beyond", Line("line", []float64{1, 1e301, inf}), []string{">2 not drawn<"}, "line: 1 of 3 points at 1"},
		{"log", Line("line", []float64{-1, 0, 1, 10}).LogY(), []string{">2 not drawn<"}, "line: 2 of 4 points from 1 to 10"},
		{"no partner", Lines("line", Series{X: []float64{1, 2}, Y: []float64{1, 2, 3}}), []string{">1 not drawn<"}, "line: 2 of 3 points from 1 to 2"},
		{"scatter without x", Scatter("dots", nil, []float64{1, 2}), []string{">2 not drawn<"}, "dots: 2 points"},
		{"histogram", Hist("h", []float64{1, 2, nan}), []string{">1 non-finite<"}, "h: 2 of 3 points from 1 to 2"},
		{"bar", Bar("b", []string{"a", "b", "c"}, []float64{1, nan}), []string{">NaN<"}, "b: “a” is 1.00"},
		{"confusion", Confusion("c", []string{"cat", "dog"}, [][]int{{3, 1}}), []string{">75<", ">25<", ">–<"}, "c: accuracy 75.0 %, most often wrong: cat as dog"},
		{"confusion without examples", Confusion("c", []string{"cat"}, nil), nil, "c: no examples"},
		{"surplus bars", Bar("b", []string{"a"}, []float64{1, 2, 3}), []string{">2 values without a name<", ">values[1]<"}, "b: “values[2]” is highest with 3, “a” lowest with 1"},
		{"surplus steps", Waterfall("w", nil, []float64{1, 2}), []string{">2 values without a name<"}, "w: from 1 with “values[0]” to 2 with “values[1]”"},
		{"areas", Areas("a", Series{Name: "one", Y: []float64{1, 2}}, Series{Name: "two", Y: []float64{-1}}, Series{Y: []float64{1, 1, 1}}), []string{">3 values drawn as 0<"}, "a: at most 3.00"},
		{"surplus limits", Bands("b", Band{Series: Series{Y: []float64{1, 2}}, Low: []float64{0, 1, 2}, High: []float64{2, 3, 4, 5}}), []string{">3 limits without a value<"}, "b: 2 points from 0 to 3"},
		{"confusion with gaps", Confusion("c", []string{"cat", "dog"}, [][]int{{3, -1}, {1}}), []string{">2 cells missing or negative<"}, "c: accuracy 75.0 %, most often wrong: dog as cat"},
		{"rows without names", HeatMap("m", [][]float64{{1, 2, 3}, {1, 2, 3}}, []string{"a"}, []string{"b"}), []string{">1 row without a name<", ">2 columns without a name<"}, "m: from 1.00 to 3.00"},
		{"surplus captions", Images(make([]image.Image, 1), "a", "b"), []string{">1 caption without an image<"}, "1 image"},
		{"surplus predictions", Predictions("p", make([]image.Image, 1), []int{1, 2}, []int{1, 2, 3}, nil), []string{">1 prediction without an image<", ">2 labels without an image<"}, "p: 1 of 1 right"},
		{"words", ParallelCoordinates("p", nil, Axis{Name: "a", Words: []string{"x", "y"}, Values: []float64{0, 1, 2, -1, nan}}), []string{">2 values without a word<"}, "p: 5 lines"},
		{"outliers", ParallelCoordinates("p", nil, Axis{Name: "a", Values: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1e6}}), []string{">1 value beyond the axis<"}, "p: 10 lines"},
		{"falling recall", PrecisionRecall("p", Series{X: []float64{1, .5, 0}, Y: []float64{.5, 1, 1}}), nil, "p: average precision 0.750"},
		{"falling rates", ROC("r", Series{X: []float64{1, .5, 0}, Y: []float64{1, 1, 0}}), nil, "r: AUC 0.750"},
		{"unordered rates", ROC("r", Series{X: []float64{0, 1, .5}, Y: []float64{0, 1, 1}}), []string{">1 curve whose x does not rise<"}, "r: 1 curve"},
		{"unordered bins", Calibration("c", Series{X: []float64{.9, .1}, Y: []float64{.8, .4}}), nil, "c: largest difference 0.300"},
		{"surplus bins", Calibration("c", Series{X: []float64{.1, nan, .9}, Y: []float64{.1, .5}}), []string{">1 non-finite<"}, "c: largest difference 0.000"},
		{"heat map", HeatMap("m", [][]float64{{1, nan}, {2}}, nil, nil), []string{">1 not drawn<", ">1 missing<"}, "m: from 1.00 to 2.00"},
		{"training", Training(TrainingData{Loss: Series{Y: []float64{2, nan, 1}}}), []string{">1 non-finite<"}, "Training: loss from 2.00 to 1.00"},
		{"training, all NaN", Training(TrainingData{Loss: Series{Y: []float64{nan, nan}}}), []string{">2 non-finite<"}, "Training: no finite loss in 2 steps"},
		{"training, nothing", Training(TrainingData{Status: "epoch 1"}), []string{">no data yet<"}, "Training: epoch 1"},
		{"device, nothing", DeviceUse(DeviceData{Name: "GPU", Busy: []float64{nan}, Seconds: []float64{0}}), []string{">nothing was measured<"}, "GPU: the driver or system reports no utilization, memory, power, temperature or clock"},
		{"device, no samples", DeviceUse(DeviceData{Name: "GPU"}), []string{">no samples yet<"}, "GPU: no samples"},
		{"zero value", &Figure{}, []string{">no data<"}, "no data"},
		{"images", Images(nil), []string{">no images<"}, "no images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			svg := tt.figure.SVG()
			for _, want := range tt.want {
				if !strings.Contains(svg, want) {
					t.Errorf("the SVG lacks %q", want)
				}
			}
			if got := tt.figure.String(); got != tt.text {
				t.Errorf("text\n want %q\n got  %q", tt.text, got)
			}
		})
	}
}

// FuzzFigures draws each kind of figure with arbitrary numbers. It fails on a panic,
// by not terminating, or by a position that is not a number.
func FuzzFigures(f *testing.F) {
	for _, y := range awkward {
		var b []byte
		for _, v := range y {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var y []float64
		for len(b) >= 8 && len(y) < 64 {
			y = append(y, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			b = b[8:]
		}
		for _, figure := range figuresOf(y) {
			saneSVG(t, figure.Size(200, 150))
		}
	})
}
