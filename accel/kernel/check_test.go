package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// The kernels of the other tests are correct.
func TestCheckKernels(t *testing.T) {
	for _, l := range slices.Concat(launches(), launchesOfStudents()) {
		args := l.args()
		before := fmt.Sprint(args...)
		report, err := kernel.Check(compile(t, l.text, l.name), l.shape, args...)
		if err != nil || report.Fault != nil || len(report.Lines) == 0 {
			t.Errorf("%s: %v", l.name, err)
		}
		if after := fmt.Sprint(args...); after != before {
			t.Errorf("%s: Check has changed an argument", l.name)
		}
	}
}

// wrong are kernels with a mistake, each with the line in which Check finds it and the line of the other access.
var wrong = []struct {
	name, body  string
	line, other int
	want        string
}{
	{"a missing barrier", `
	var s [64]float32
	kernel.Shared(&s)
	s[t.ThreadX()] = x[t.ThreadX()]
	x[t.ThreadX()] = s[63-t.ThreadX()]`, 8, 0, "read of shared memory that no thread of the block has written yet"},
	{"a missing barrier behind a read", `
	var s [64]float32
	kernel.Shared(&s)
	s[t.ThreadX()] = x[t.ThreadX()]
	t.Sync()
	v := s[63-t.ThreadX()]
	s[t.ThreadX()] = v + 1`, 9, 10, "race for an element of a shared array: thread [31 0 0] of block [0 0 0] writes it at kernel.go:10, and no barrier is in between"},
	{"a missing barrier before a write", `
	var s [64]float32
	kernel.Shared(&s)
	s[63-t.ThreadX()] = 1
	s[t.ThreadX()] = x[t.ThreadX()]`, 7, 8, "thread [31 0 0] of block [0 0 0] writes it at kernel.go:8"},
	{"a missing barrier where the values do not change", `
	var s [64]float32
	kernel.Shared(&s)
	s[t.ThreadX()] = 1
	t.Sync()
	v := s[(t.ThreadX()+1)%64]
	s[t.ThreadX()] = v`, 10, 9, "thread [0 0 0] of block [0 0 0] reads it at kernel.go:9"},
	{"a histogram without atomic operations", `
	var s [1]int32
	kernel.Shared(&s)
	if t.ThreadX() == 0 {
		s[0] = 0
	}
	t.Sync()
	s[0]++
	t.Sync()
	n[0] = s[0]`, 11, 11, "thread [31 0 0] of block [0 0 0] reads it at kernel.go:11"},
	{"a read before an atomic operation", `
	var s [1]int32
	kernel.Shared(&s)
	s[0] = 0
	t.Sync()
	n[t.ThreadX()] = s[0]
	kernel.AtomicAdd(&s[0], 1)`, 10, 9, "thread [31 0 0] of block [0 0 0] reads it at kernel.go:9"},
	{"one element of a shared array for all threads", `
	var s [1]int32
	kernel.Shared(&s)
	s[0] = int32(t.ThreadX())`, 7, 7, "thread [0 0 0] of block [0 0 0] writes it at kernel.go:7"},
	{"an addition that is not atomic", `
	n[x2i(x[t.Global()])]++`, 5, 5, "race for an element of a slice"},
	{"one element for all threads of a block", `
	if t.BlockX() == 0 {
		x[0] = float32(t.ThreadX())
	}`, 6, 6, "writes it at kernel.go:6"},
	{"one element for two blocks", `
	if t.ThreadX() == 0 {
		n[0] = int32(t.BlockX())
	}`, 6, 6, "blocks run in any order"},
	{"a neighbor that another thread writes", `
	i := t.ThreadX()
	x[i+64*t.BlockX()] = x[(i+1)%64+64*t.BlockX()]`, 6, 6, "race for an element of a slice: thread"},
	{"a reduction without the last barrier", `
	var s [64]float32
	kernel.Shared(&s)
	i := t.ThreadX()
	s[i] = x[i]
	t.Sync()
	for n := 32; n > 0; n /= 2 {
		if i < n {
			s[i] += s[i+n]
		}
	}`, 12, 12, "race for an element of a shared array"},
	{"a field of a shared struct", `
	var s [64]struct{ a, b float32 }
	kernel.Shared(&s)
	i := t.ThreadX()
	s[i].a, s[i].b = x[i], 1
	x[i] = s[i].a + s[i].b
	s[(i+1)%64].b = x[i]`, 10, 9, "race for an element of a shared array"},
	{"an element of a slice that a function returns", `
	i := t.ThreadX()
	x[i] = 1
	half(x)[i%32]++`, 7, 7, "race for an element of a slice"},
	{"shared memory that nobody has written", `
	var s [64]float32
	kernel.Shared(&s)
	if t.ThreadX() < 63 {
		s[t.ThreadX()] = 1
	}
	t.Sync()
	x[t.Global()] = s[t.ThreadX()]`, 11, 0, "read of shared memory that no thread of the block has written"},
	{"an atomic addition to shared memory that nobody has written", `
	var s [4]int32
	kernel.Shared(&s)
	kernel.AtomicAdd(&s[0], 1)`, 7, 0, "read of shared memory that no thread"},
	{"a barrier in a branch", `
	if t.ThreadX() < 40 {
		t.Sync()
	}`, 6, 0, "not all threads of the block"},
	{"a vote in a branch", `
	if t.ThreadX()%2 == 0 {
		_ = t.Any(true)
	}`, 6, 0, "not all threads of the warp are here"},
	{"an index out of range", `
	i := t.Global()
	x[i+1] = 1`, 6, 0, "index 128 is out of range of x with length 128"},
	{"a division by zero", `
	n[t.Global()] = 5 / int32(t.ThreadX()-9)`, 5, 0, "integer divide by zero"},
	{"a barrier that returned threads do not reach, and a tile that they do not write", `
	var s [64]float32
	kernel.Shared(&s)
	if t.ThreadX() == 3 {
		return
	}
	s[t.ThreadX()] = 1
	t.Sync()
	x[t.Global()] = s[t.ThreadX()/2]`, 12, 0, "read of shared memory that no thread"},
}

// Check finds mistakes, at the lines where they are.
func TestCheckFindsMistakes(t *testing.T) {
	for _, c := range wrong {
		text := "package main\nimport \"github.com/quernlab/quern/accel/kernel\"\nfunc x2i(x float32) int { return int(x) / 8 }; func half(x []float32) []float32 { return x[:32] }\nfunc k(t kernel.Thread, x []float32, n []int32) {" + c.body + "\n}\n"
		x := make([]float32, 128)
		for i := range x {
			x[i] = float32(i)
		}
		report, err := kernel.Check(compile(t, text, "k", kernel.Unchecked()), kernel.Grid(128, 64), tensor.New(x, 128), tensor.Zeros(128).Cast(tensor.Int32))
		var f *kernel.Fault
		if !errors.As(err, &f) || report == nil || report.Fault != f || f.Line != c.line || !strings.Contains(f.Reason, c.want) {
			t.Errorf("%s\nwant line %d: %s\ngot  %v", c.name, c.line, c.want, err)
			continue
		}
		if other := f.Other; (c.other > 0) != (other != nil) || other != nil && other.Line != c.other {
			t.Errorf("%s: the other access is %+v, want line %d", c.name, other, c.other)
		}
	}
}

// The counts are those that one gets by hand: a warp reads 16 rows of two in a tile of 16 columns, from two banks.
func TestCounts(t *testing.T) {
	args := func() []any { return []any{32, 32, tensor.Zeros(32, 32), tensor.Zeros(32, 32)} }
	for _, c := range []struct {
		name string
		// Of the line that writes y: a warp has two rows of 16 threads. 4 blocks of 8 warps.
		conflicts int
	}{
		// Thread (x, y) reads tile[x][y]: word 16x+y, bank 16(x%2)+y: the 8 words of even x are in one bank. 32 warps · 7.
		{"transpose", 224},
		// Word 17x+y: bank (17x+y)%32. The second row of the warp reads the words behind those of the first: 15 of them are the
		// same as of its neighbor plus one, so at most two words are in one bank.
		{"padded", 32},
	} {
		report, err := kernel.Check(compile(t, kernels, c.name), kernel.Grid2D(32, 32, 16, 16), args()...)
		if err != nil {
			t.Fatal(err)
		}
		var write *kernel.Line
		for i, l := range report.Lines {
			if strings.HasPrefix(l.Text, "y[") {
				write = &report.Lines[i]
			}
		}
		if write == nil || write.Shared != 32 || write.Global != 32 || write.Sectors != 32*4 || write.IdealSectors != 32*4 || write.BankConflicts != c.conflicts {
			t.Errorf("%s: %+v\n%s", c.name, write, report)
		}
	}
}

// A column is 32 sectors for a warp, a row is 4.
func TestSectors(t *testing.T) {
	text := `package main
import "github.com/quernlab/quern/accel/kernel"
func k(t kernel.Thread, x, y []float32) {
	y[t.Global()] =
		x[t.Global()*32%1024+t.Global()/32]
}`
	report, err := kernel.Check(compile(t, text, "k"), kernel.Grid(1024, 32), tensor.Zeros(1024), tensor.Zeros(1024))
	if err != nil {
		t.Fatal(err)
	}
	got := report.String()
	for _, want := range []string{"kernel k: no fault was found with these arguments", "kernel.go:4  y[t.Global()] =                          32      128    128       0           0               0\n", "kernel.go:5  x[t.Global()*32%1024+t.Global()/32]      32     1024    128       0           0               0"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
	if page := report.Report().MIMEBundle()["text/html"].(string); !strings.Contains(page, ">1024</td>") {
		t.Error(page)
	}
}

func TestCheckEndless(t *testing.T) {
	k := compile(t, file("for { t.Sync() }"), "k")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := kernel.CheckContext(ctx, k, kernel.Grid(8, 8), float32(1), tensor.Zeros(8), tensor.Zeros(8).Cast(tensor.Int32))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
