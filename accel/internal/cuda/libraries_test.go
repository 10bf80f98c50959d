package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/cudnn"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// modules are parsed once for all tests.
var modules = &fake.Modules{}

// deviceWith returns a simulated GPU with the fake cuBLASLt.
func deviceWith(t *testing.T, l *fakelib.CuBLASLt, options fake.Options, measure bool) *Device {
	t.Helper()
	options.Modules = modules
	gpu, err := fake.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("cuda:0", gpu, 0, Libraries{Autotune: measure, CuBLASLt: func(ctx driver.Context) (cublaslt.Library, error) {
		l.Context = ctx.(fake.FuncLauncher)
		return l, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// deviceConvolving returns a simulated GPU with the fake cuDNN.
func deviceConvolving(t *testing.T, l *fakelib.CuDNN, options fake.Options) *Device {
	t.Helper()
	options.Modules = modules
	gpu, err := fake.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("cuda:0", gpu, 0, Libraries{CuDNN: func(ctx driver.Context) (cudnn.Library, error) {
		l.Context = ctx.(fake.FuncLauncher)
		return l, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// matMulStep returns a matrix multiplication of row-major float32 tensors.
func matMulStep(m, n, k int) *ir.Program {
	return &ir.Program{
		Slots: []ir.Slot{{Kind: ir.External, Bytes: 4 * m * k}, {Kind: ir.External, Bytes: 4 * k * n}, {Kind: ir.Output, Bytes: 4 * m * n}},
		Steps: []ir.Step{{Op: ir.MatMul{}, In: []ir.Operand{operand(0, m, k), operand(1, k, n)}, Out: []ir.Operand{operand(2, m, n)}}},
	}
}

func operand(slot int, shape ...int) ir.Operand {
	return ir.Operand{Slot: slot, DType: ir.Float32, Layout: ir.RowMajor(shape)}
}

// bound allocates memory for a program, whose inputs hold small values.
func bound(t *testing.T, d *Device, p *ir.Program) []ir.Storage {
	t.Helper()
	var bind []ir.Storage
	for i, s := range p.Slots {
		if s.Kind == ir.Arena {
			bind = append(bind, nil)
			continue
		}
		m, err := d.Alloc(s.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		for j := range s.Bytes / 4 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32((j*5+i*3)%7)-3))
		}
		if err := d.Write(m, 0, data); err != nil {
			t.Fatal(err)
		}
		bind = append(bind, m)
	}
	return bind
}

// values reads float32.
func values(t *testing.T, d *Device, s ir.Storage) []float32 {
	t.Helper()
	b := make([]byte, s.Size())
	if err := d.Read(b, s, 0); err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func run(t *testing.T, x ir.Executable, bind []ir.Storage) {
	t.Helper()
	if _, err := x.Run(bind, nil); err != nil {
		t.Fatal(err)
	}
}

// logged returns a buffer with what the test logs.
func logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &b
}

// A library is called when a program is launched and when its graph is captured, for each
// new set of addresses; a steady step does not call it.
func TestLibraryMultiplies(t *testing.T) {
	for seed := range uint64(6) {
		l := &fakelib.CuBLASLt{}
		d := deviceWith(t, l, fake.Options{Seed: seed}, false)
		p := matMulStep(5, 6, 7)
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		var want []float32
		for round := range 8 { // more sets of addresses than there are graphs
			bind := bound(t, d, p)
			for again := range 3 {
				before := l.Runs
				run(t, x, bind)
				if again == 2 && l.Runs != before {
					t.Errorf("a steady step asks the library %d times", l.Runs-before)
				}
				got := values(t, d, bind[2])
				if want == nil {
					want = got
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("seed %d, round %d: element %d is %v, was %v", seed, round, i, got[i], want[i])
					}
				}
			}
		}
		if l.Runs == 0 || len(d.code.modules) != 0 {
			t.Errorf("the library was asked %d times, and %d modules of kernels are loaded", l.Runs, len(d.code.modules))
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a library rejects is computed by our own kernels, and logged.
func TestRefusedByTheLibrary(t *testing.T) {
	for _, call := range []string{"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"} {
		log := logged(t)
		l := &fakelib.CuBLASLt{Refuses: map[string]bool{call: true}}
		d := deviceWith(t, l, fake.Options{}, false)
		p := matMulStep(5, 6, 7)
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		bind := bound(t, d, p)
		run(t, x, bind)
		run(t, x, bind)
		_ = values(t, d, bind[2])
		if _, ok := d.code.modules["gemm_f32"]; !ok {
			t.Errorf("%s: no own kernel was used", call)
		}
		for _, want := range []string{call, "CUBLAS_STATUS_INVALID_VALUE", "MatMul [5 7] [7 6] → [5 6]"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: %q is not in the log:\n%s", call, want, log)
			}
		}
		// The same rejection of another step is logged at debug level.
		if _, err := d.Compile(matMulStep(5, 6, 8)); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "[5 8] [8 6]") {
			t.Errorf("%s: %d warnings:\n%s", call, n, log)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A call that fails later is an error: the algorithm does not change during a run.
func TestLibraryFailsLater(t *testing.T) {
	l := &fakelib.CuBLASLt{}
	d := deviceWith(t, l, fake.Options{}, false)
	p := matMulStep(5, 6, 7)
	x, err := d.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	bind := bound(t, d, p)
	l.Refuses = map[string]bool{"cublasLtMatmul": true}
	for range 2 { // launched, and captured
		_, err = x.Run(bind, nil)
		var e *library.CallError
		if !errors.As(err, &e) || e.Op != "MatMul [5 7] [7 6] → [5 6]" || e.Status != "CUBLAS_STATUS_INVALID_VALUE" {
			t.Errorf("got %v", err)
		}
	}
	l.Refuses = nil
	run(t, x, bind)
	if got := values(t, d, bind[2]); len(got) != 30 {
		t.Errorf("%d numbers", len(got))
	}
}

// It is not an error if a library is not installed; the reason is logged, once as a warning
// if the user expects the library. Each program tries once, and uses the library when it
// opens.
func TestLibraryThatOpensLater(t *testing.T) {
	for _, row := range []struct {
		err      error
		warnings int
	}{
		{&library.MissingError{Library: library.CuBLASLt}, 0},
		{library.ErrOff, 0},
		{&library.VersionError{Library: library.CuBLASLt}, 1},
		{&library.CallError{Library: library.CuBLASLt, Call: "cublasLtCreate", Status: "CUBLAS_STATUS_ALLOC_FAILED"}, 1},
		{fmt.Errorf("join: %w", &library.DriverError{CUDA: 13000, Driver: 12000}), 1},
	} {
		log := logged(t)
		gpu, err := fake.Open(fake.Options{Modules: modules})
		if err != nil {
			t.Fatal(err)
		}
		asked, l := 0, &fakelib.CuBLASLt{}
		d, err := Open("cuda:0", gpu, 0, Libraries{CuBLASLt: func(ctx driver.Context) (cublaslt.Library, error) {
			asked++
			l.Context = ctx.(fake.FuncLauncher)
			return l, row.err
		}})
		if err != nil {
			t.Fatal(err)
		}
		if asked != 0 {
			t.Error("the library was opened before it was needed")
		}
		runTwo := func(size int) {
			p := matMulStep(size, size, size)
			p.Steps = append(p.Steps, p.Steps[0])
			x, err := d.Compile(p)
			if err != nil {
				t.Fatal(err)
			}
			run(t, x, bound(t, d, p))
		}
		for _, size := range []int{3, 4, 5} {
			runTwo(size)
		}
		if warnings := strings.Count(log.String(), "level=WARN"); asked != 3 || l.Runs != 0 || warnings != row.warnings || !strings.Contains(log.String(), row.err.Error()) {
			t.Errorf("%v: opened %d times and called %d times; log:\n%s", row.err, asked, l.Runs, log)
		}
		row.err = nil
		for _, size := range []int{3, 6} {
			before := l.Runs
			runTwo(size)
			if asked != 4 || l.Runs == before {
				t.Errorf("now it opens, but it was opened %d times and called %d times", asked, l.Runs-before)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The fastest candidate is selected, ours or the library's.
func TestMeasuredSelection(t *testing.T) {
	for name, row := range map[string]struct {
		library [3]time.Duration // of its plans
		want    string
	}{
		"first algorithm": {[3]time.Duration{5, 60, 60}, "cuBLASLt 0"},
		"third algorithm": {[3]time.Duration{80, 80, 5}, "cuBLASLt 2"},
		"kernel":          {[3]time.Duration{400, 400, 400}, "gemm"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &fakelib.CuBLASLt{Takes: func(_ cublaslt.Matmul, number int) time.Duration { return row.library[number] * time.Microsecond }}
			d := deviceWith(t, l, fake.Options{Instant: true, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return 200 * time.Microsecond }}, true)
			x, err := d.Compile(matMulStep(5, 6, 7))
			if err != nil {
				t.Fatal(err)
			}
			c := x.(*program).steps[0].(*selection)
			launches, err := c.launches(x.(*program))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.nameOf(launches[0]); !strings.HasPrefix(got, row.want) {
				t.Errorf("%s was taken, want %s", got, row.want)
			}
			// The next program with the same key is not measured.
			before := l.Runs
			if _, err := d.Compile(matMulStep(5, 6, 7)); err != nil {
				t.Fatal(err)
			}
			if l.Runs != before {
				t.Error("a matmul was tried twice")
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// convolutionStep returns a convolution with a bias and ReLU, and gradients of one without.
func convolutionStep() *ir.Program {
	op := ir.Conv2D{Stride: [2]int{2, 1}, Padding: [2]int{1, 0}, Dilation: [2]int{1, 1}, Groups: 1}
	x, w, b := operand(0, 2, 3, 7, 6), operand(1, 4, 3, 3, 2), operand(2, 4)
	y, dx, dw := operand(3, 2, 4, 4, 5), operand(4, 2, 3, 7, 6), operand(5, 4, 3, 3, 2)
	p := &ir.Program{Steps: []ir.Step{
		{Op: op, Epilogue: ir.ReLU{}, In: []ir.Operand{x, w, b}, Out: []ir.Operand{y}},
		{Op: ir.Conv2DInputGradient{Conv2D: op}, In: []ir.Operand{y, w}, Out: []ir.Operand{dx}},
		{Op: ir.Conv2DWeightGradient{Conv2D: op}, In: []ir.Operand{x, y}, Out: []ir.Operand{dw}},
	}}
	for _, o := range []ir.Operand{x, w, b, y, dx, dw} {
		kind := ir.External
		if o.Slot > 2 {
			kind = ir.Output
		}
		p.Slots = append(p.Slots, ir.Slot{Kind: kind, Bytes: 4 * ir.Len(o.Shape)})
	}
	return p
}

// cuDNN computes convolutions, or our own kernels where it rejects them, with equal results.
func TestConvolutionsOfALibrary(t *testing.T) {
	var want [][]float32
	for _, refuses := range []string{"", "cudnnBackendFinalize", "cudnnBackendExecute"} {
		log := logged(t)
		l := &fakelib.CuDNN{Refuses: map[string]bool{refuses: true}}
		d := deviceConvolving(t, l, fake.Options{Seed: 3})
		p := convolutionStep()
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		rounds := 3 // of addresses
		if refuses != "" {
			rounds = 1
		}
		for range rounds {
			bind := bound(t, d, p)
			run(t, x, bind)
			run(t, x, bind)
			var got [][]float32
			for _, s := range bind[3:] {
				got = append(got, values(t, d, s))
			}
			if want == nil {
				want = got
			}
			for i := range got {
				for j, g := range got[i] {
					if w := want[i][j]; !(math.Abs(float64(g-w)) <= 1e-4*(1+math.Abs(float64(w)))) {
						t.Fatalf("refuses %q: number %d of output %d is %v, want %v", refuses, j, i, g, w)
					}
				}
			}
		}
		own := false
		for module := range d.code.modules {
			own = own || strings.HasPrefix(module, "conv")
		}
		if own != (refuses != "") || (l.Runs > 0) != (refuses == "") || refuses != "" && !strings.Contains(log.String(), "Conv2D [2 3 7 6] [4 3 3 2] [4] → [2 4 4 5]: cuDNN: "+refuses) {
			t.Errorf("refuses %q: own kernels %v, cuDNN was asked %d times\n%s", refuses, own, l.Runs, log)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Only the selected candidate has a workspace.
func TestWorkspaceOfTheSelectedCandidate(t *testing.T) {
	for number, want := range []int{0, 8 << 10, 0} {
		l := &fakelib.CuBLASLt{Takes: func(_ cublaslt.Matmul, n int) time.Duration {
			if n == number {
				return 10 * time.Millisecond
			}
			return 80 * time.Millisecond
		}}
		d := deviceWith(t, l, fake.Options{Instant: true, KernelTime: func(string, driver.Dim, driver.Dim) time.Duration { return 200 * time.Millisecond }}, true)
		p := matMulStep(5, 6, 7)
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.(*program).workspace; got != want {
			t.Errorf("candidate %d: workspace of %d bytes, want %d", number, got, want)
		}
		bind := bound(t, d, p)
		run(t, x, bind)
		run(t, x, bind)
		_ = values(t, d, bind[2])
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Without memory for measurements our own kernels are selected.
func TestNoMemoryForTrials(t *testing.T) {
	l := &fakelib.CuBLASLt{}
	gpu, err := fake.Open(fake.Options{Modules: modules})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("cuda:0", gpu, 0, Libraries{CuBLASLt: func(ctx driver.Context) (cublaslt.Library, error) {
		l.Context = ctx.(fake.FuncLauncher)
		return l, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for skip := range 4 { // of the four allocations
		p := matMulStep(5, 6, 7+skip)
		gpu.Inject(fake.Injection{Call: "Alloc", Skip: skip, Code: driver.OutOfMemory})
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if c := x.(*program).steps[0].(*selection); c.selected != 0 {
			t.Errorf("algorithm %d is selected", c.selected)
		}
		run(t, x, bound(t, d, p))
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A running program keeps its library, also when a graph is profiled.
func TestNamesOfLibraries(t *testing.T) {
	l := &fakelib.CuBLASLt{}
	d := deviceWith(t, l, fake.Options{}, false)
	p := matMulStep(5, 6, 7)
	x, err := d.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	launches, err := x.(*program).allLaunches()
	if err != nil || len(launches) != 1 || d.nameOf(launches[0]) != "cuBLASLt 0" {
		t.Errorf("launches %v, %v", launches, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Plans(cublaslt.Matmul{}, 1); err == nil {
		t.Error("an empty matmul has a plan")
	}
}

// ReLU of NaN must be NaN: a plan that returns 0 is rejected. If all are, a kernel computes ReLU after a plan without it.
func TestLibraryThatDropsNaN(t *testing.T) {
	for want, drops := range map[int]func(number int) bool{4: func(int) bool { return true }, 1: nil, 2: func(number int) bool { return number == 0 }} {
		l := &fakelib.CuBLASLt{DropsNaN: drops}
		d := deviceWith(t, l, fake.Options{}, false)
		p := matMulStep(5, 6, 7)
		p.Steps[0].Epilogue = ir.ReLU{}
		x, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if c := x.(*program).steps[0].(*selection); c.selected != want {
			t.Errorf("algorithm %d is selected, want %d", c.selected, want)
		}
		bind := bound(t, d, p)
		nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
		if err := d.Write(bind[0], 0, nan); err != nil {
			t.Fatal(err)
		}
		run(t, x, bind)
		for i, v := range values(t, d, bind[2]) {
			if math.IsNaN(float64(v)) != (i < 6) || v < 0 {
				t.Errorf("algorithm %d: element %d is %v", want, i, v)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
