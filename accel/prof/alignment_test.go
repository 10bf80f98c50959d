package prof

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/tensor"
)

func TestMisaligned(t *testing.T) {
	for _, row := range []struct {
		op     string
		shapes [][]int
		want   string // for 16-bit floats
	}{
		{"Linear", [][]int{{64, 32}, {16, 32}, {16}}, "[]"},
		{"Linear", [][]int{{100, 30}, {10, 30}, {10}}, "[{10 outputs} {30 inputs} {100 rows}]"},
		{"Linear", [][]int{{4, 6, 32}, {16, 32}}, "[]"}, // 24 rows
		{"Linear", [][]int{{3, 6, 32}, {16, 32}}, "[{18 rows}]"},
		{"MatMul", [][]int{{2, 9, 16}, {2, 16, 7}}, "[{7 outputs} {9 rows}]"},
		{"Conv2D", [][]int{{3, 16, 28, 28}, {12, 16, 3, 3}}, "[{12 output channels}]"},
		{"Conv2D", [][]int{{8, 3, 28, 28}, {32, 3, 3, 3}}, "[]"},   // the channels of an image
		{"Conv2D", [][]int{{8, 32, 28, 28}, {32, 1, 3, 3}}, "[]"},  // depthwise
		{"Conv2D", [][]int{{8, 32, 28, 28}, {32, 16, 3, 3}}, "[]"}, // two groups
		{"Conv2D", [][]int{{8, 32, 28, 28}, {24, 16, 3, 3}}, "[{12 output channels}]"},
		{"ConvTranspose2D", [][]int{{8, 9, 28, 28}, {9, 10, 3, 3}}, "[{10 output channels} {9 input channels}]"},
		{"Attention", [][]int{{2, 4, 10, 20}, {2, 4, 10, 20}, {2, 4, 10, 20}}, "[{20 head size}]"},
		{"Add", [][]int{{3, 3}, {3, 3}}, "[]"},
		{"Linear", [][]int{{3, 3}}, "[]"},
		{"MatMul", [][]int{{}, {}}, "[]"},
		{"Linear", nil, "[]"},
	} {
		if got := fmt.Sprint(misaligned(row.op, row.shapes, 8)); got != row.want {
			t.Errorf("%s %v: %s, want %s", row.op, row.shapes, got, row.want)
		}
	}
}

// multiplied returns a report of a step of 100 ms on a device: Dense(256) takes most of it and Dense(10) very little.
func multiplied(device string, size int) *Report {
	ms := func(from, to int) (begin, end time.Duration) {
		return time.Duration(from) * time.Millisecond, time.Duration(to) * time.Millisecond
	}
	r := &Report{Device: device, Steps: []Interval{{0, 100 * time.Millisecond}}, ceilings: &Ceilings{}}
	add := func(layer, op string, phase Phase, from, to int, shapes ...[]int) {
		o := Op{Name: op, Layer: layer, Phase: phase, op: op, float16: size == 2}
		for _, s := range shapes {
			o.in = append(o.in, trace.Operand{Shape: s, Size: size})
		}
		o.Begin, o.End = ms(from, to)
		r.Ops = append(r.Ops, o)
	}
	add("1 Dense(250)", "Linear", Forward, 0, 30, []int{64, 784}, []int{250, 784})
	add("2 ReLU()", "ReLU", Forward, 30, 60, []int{64, 250})
	add("3 Dense(10)", "Linear", Forward, 60, 61, []int{64, 250}, []int{10, 250})
	add("1 Dense(250)", "MatMul", Backward, 61, 91, []int{250, 64}, []int{64, 784})
	add("update", "Mul", Update, 91, 100, []int{250, 784})
	return r
}

func TestAlignment(t *testing.T) {
	for _, row := range []struct {
		dtype    tensor.DType
		multiple int
		want     string
	}{
		{tensor.Float16, 8, "1 Dense(250) 250 outputs 60, 3 Dense(10) 10 outputs 1, 3 Dense(10) 250 inputs 1"},
		{tensor.BFloat16, 8, "1 Dense(250) 250 outputs 60, 3 Dense(10) 10 outputs 1, 3 Dense(10) 250 inputs 1"},
		{tensor.Float32, 4, "1 Dense(250) 250 outputs 60, 3 Dense(10) 10 outputs 1, 3 Dense(10) 250 inputs 1"},
		{tensortype.Float8E4M3, 16, "1 Dense(250) 250 outputs 60, 3 Dense(10) 10 outputs 1, 3 Dense(10) 250 inputs 1"},
		{tensor.Float64, 2, ""},
		{tensor.Int32, 0, ""},
	} {
		a := multiplied("cpu", 4).Alignment(row.dtype)
		var rows []string
		for _, m := range a.Rows {
			rows = append(rows, fmt.Sprintf("%s %d %s %.0f", m.Layer, m.Size, m.Of, 100*m.Share))
		}
		if got := strings.Join(rows, ", "); got != row.want || a.Multiple != row.multiple {
			t.Errorf("%v: %s, multiple %d", row.dtype, got, a.Multiple)
		}
		if text := a.String(); !strings.Contains(text, "16 bytes of") && row.multiple > 0 || row.multiple == 0 && text != "Layers do not multiply int32 on tensor cores." {
			t.Error(text)
		}
	}
}

// The hint for a GPU names what costs time, and the type; a CPU and float32 without TF32 have no tensor cores.
func TestAlignmentHint(t *testing.T) {
	has := func(r *Report) bool {
		return slices.ContainsFunc(r.Hints(), func(h string) bool {
			return strings.Contains(h, `"1 Dense(250)" takes 60 % of a step with 250 outputs, not a multiple of`) && !strings.Contains(h, "Dense(10)")
		})
	}
	tf32 := multiplied("cuda:0", 4)
	tf32.tf32 = true
	aligned := multiplied("cuda:0", 2)
	aligned.Ops[0].in[1].Shape = []int{256, 784}
	for _, row := range []struct {
		name   string
		report *Report
		want   bool
	}{
		{"16-bit floats", multiplied("cuda:0", 2), true},
		{"TF32", tf32, true},
		{"float32", multiplied("cuda:0", 4), false},
		{"CPU", multiplied("cpu", 2), false},
		{"only the last layer", aligned, false},
	} {
		if has(row.report) != row.want {
			t.Errorf("%s: %q", row.name, row.report.Hints())
		}
	}
}
