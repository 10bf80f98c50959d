package ptx

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// batchOf returns y = s·x + b, z = bfloat16(y) for x of these sizes, a b of one element and a
// 16-bit x' that is added, with a scalar s for each part.
func batchOf(sizes []int) ir.Step {
	s := ir.Step{Loop: []ir.Instr{
		{Op: ir.MulScalar{}, Args: []int{0}, Out: -1, Word: 1},
		{Op: ir.Add{}, Args: []int{3, 1}, Out: -1},
		{Op: ir.Add{}, Args: []int{4, 2}, Out: 0},
		{Op: ir.Cast{To: ir.BFloat16}, Args: []int{5}, Out: 1},
	}}
	slot := 0
	operand := func(d ir.DType, l ir.Layout) ir.Operand {
		slot++
		return ir.Operand{Slot: slot - 1, DType: d, Layout: l}
	}
	for i, n := range sizes {
		flat := ir.RowMajor([]int{n})
		s.In = append(s.In, operand(ir.Float32, flat), operand(ir.Float32, ir.RowMajor(nil).BroadcastTo([]int{n})), operand(ir.BFloat16, flat))
		s.Out = append(s.Out, operand(ir.Float32, flat), operand(ir.BFloat16, flat))
		s.Parts = append(s.Parts, ir.Part{Shape: []int{n}, Word: 2 * i})
	}
	s.Shape = s.Parts[0].Shape
	return s
}

// A batch computes what a kernel for each of its parts computes, in few launches.
func TestBatch(t *testing.T) {
	t.Parallel()
	many := make([]int, 150)
	for i := range many {
		many[i] = 2 + i%5
	}
	for _, row := range []struct {
		name           string
		sizes          []int
		launches, grid int
	}{
		{"around a tile", []int{5, tile - 1, tile, tile + 1, 3*tile + 7, 2}, 1, 10},
		{"an empty part", []int{6, 0, 9}, 1, 2},
		{"more than fit the parameters", many, 3, 67},
	} {
		s, r := batchOf(row.sizes), rand.New(rand.NewPCG(5, 5))
		k, err := New(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := newMachine(t)
		var at, sizes []driver.Pointer
		add := func(b []byte) {
			at, sizes = append(at, m.put(append(b, 1))), append(sizes, driver.Pointer(len(b)))
		}
		var words []byte
		for i, n := range row.sizes {
			x, half := make([]float64, n), []byte{}
			for j := range x {
				x[j] = r.NormFloat64()
				half = binary.LittleEndian.AppendUint16(half, uint16(0x3f00+j%200))
			}
			add(singles(x))
			add(singles([]float64{float64(i)}))
			add(half)
			add(make([]byte, 4*n))
			add(make([]byte, 2*n))
			words = binary.LittleEndian.AppendUint64(words, 0)
			words = binary.LittleEndian.AppendUint64(words, math.Float64bits(1+float64(i)/8))
		}
		word, guard := m.put(words), m.put(bytes.Repeat([]byte{255}, 8))
		address := func(o ir.Operand) driver.Pointer { return at[o.Slot] }
		read := func() (out [][]byte) {
			for _, o := range s.Out {
				b := make([]byte, sizes[o.Slot])
				if err := m.memory.Read(b, uint64(at[o.Slot])); err != nil {
					t.Fatal(err)
				}
				out = append(out, b)
				if err := m.memory.Write(uint64(at[o.Slot]), make([]byte, len(b))); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		for i := range s.Parts {
			one, err := New(s.Part(i), 0)
			if err != nil {
				t.Fatal(err)
			}
			if !one.Empty() {
				m.run(one.PTX, one.Launch(address, word, nil))
			}
		}
		want := read()
		launches := k.Launches(address, word, []driver.Pointer{guard})
		if len(launches) != row.launches || int(launches[0].Grid.X) != row.grid {
			t.Errorf("%s: %d launches, the first of %d blocks; want %d and %d", row.name, len(launches), launches[0].Grid.X, row.launches, row.grid)
		}
		for _, l := range launches {
			m.run(k.PTX, l)
		}
		// Few blocks take many tiles, of several parts, each.
		got := read()
		for _, l := range launches {
			l.Grid.X = 2
			m.run(k.PTX, l)
		}
		for i, few := range read() {
			if !bytes.Equal(got[i], want[i]) || !bytes.Equal(few, want[i]) {
				t.Errorf("%s: result %d of part %d differs", row.name, i%2, i/2)
			}
		}
		fault := m.put(make([]byte, 8))
		for _, l := range k.Launches(address, word, []driver.Pointer{fault}) {
			m.run(k.PTX, l)
		}
		for i, b := range read() {
			if !bytes.Equal(b, make([]byte, len(b))) {
				t.Errorf("%s: result %d was written after a fault", row.name, i)
			}
		}
	}
}

// A batch has inputs that are read in order.
func TestBatchRejectsStrides(t *testing.T) {
	for name, change := range map[string]func(o *ir.Operand){
		"float64":    func(o *ir.Operand) { o.DType = ir.Float64 },
		"transposed": func(o *ir.Operand) { o.Layout = ir.Layout{Shape: []int{2, 3}, Stride: []int{1, 2}} },
	} {
		s := batchOf([]int{6, 6})
		if change(&s.In[0]); name == "transposed" {
			s.Parts[0].Shape = []int{2, 3}
		}
		if _, err := New(s, 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// ptxas accepts what the simulator accepts.
func TestAssembleBatch(t *testing.T) {
	ptxas := assembler(t)
	k, err := New(batchOf([]int{5, 6000}), 1)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "batch.ptx")
	if err := os.WriteFile(file, []byte(k.PTX), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), ptxas, "-arch=sm_80", "-o", file+".cubin", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, k.PTX)
	}
}
