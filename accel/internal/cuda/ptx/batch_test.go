package ptx

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// batchOf returns y = s·x + b + c, z = bfloat16(y), c' = float32(c) for x of these sizes and a b of one
// element, with a scalar s for each part. c is of float32, bfloat16 or float16, in turn; every
// other part lacks z, and every third c'.
func batchOf(sizes []int) ir.Step {
	first := len(sizes) / 2 // the part whose scalar the loop names: those before it count backwards
	s := ir.Step{Loop: []ir.Instr{
		{Op: ir.MulScalar{}, Args: []int{0}, Out: -1, Word: 1 + 2*first},
		{Op: ir.Add{}, Args: []int{3, 1}, Out: -1},
		{Op: ir.Add{}, Args: []int{4, 2}, Out: 0},
		{Op: ir.Cast{To: ir.BFloat16}, Args: []int{5}, Out: 1},
		{Op: ir.Cast{To: ir.Float32}, Args: []int{2}, Out: 2},
	}}
	slot := 0
	operand := func(d ir.DType, l ir.Layout) ir.Operand {
		slot++
		return ir.Operand{Slot: slot - 1, DType: d, Layout: l}
	}
	for i, n := range sizes {
		flat := ir.RowMajor([]int{n})
		s.In = append(s.In, operand(ir.Float32, flat), operand(ir.Float32, ir.RowMajor(nil).BroadcastTo([]int{n})), operand(types[i%3], flat))
		p := ir.Part{Shape: []int{n}, Word: 2 * (i - first), Out: []int{len(s.Out), -1, -1}}
		s.Out = append(s.Out, operand(ir.Float32, flat))
		if i%2 == 0 {
			p.Out[1] = len(s.Out)
			s.Out = append(s.Out, operand(ir.BFloat16, flat))
		}
		if i%3 > 0 {
			p.Out[2] = len(s.Out)
			s.Out = append(s.Out, operand(ir.Float32, flat))
		}
		s.Parts = append(s.Parts, p)
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
		{"more than fit the parameters", many, 2, 77},
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
			x, c := make([]float64, n), []byte{}
			for j := range x {
				x[j] = r.NormFloat64()
				if i%3 == 0 {
					c = binary.LittleEndian.AppendUint32(c, math.Float32bits(float32(r.NormFloat64())))
				} else {
					c = binary.LittleEndian.AppendUint16(c, uint16(0x3f00+j%200))
				}
			}
			add(singles(x))
			add(singles([]float64{float64(i)}))
			add(c)
			for _, k := range s.Parts[i].Out {
				if k >= 0 {
					add(make([]byte, s.Out[k].DType.Size()*n))
				}
			}
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
				t.Errorf("%s: result %d differs", row.name, i)
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

// There may be more inputs of several types than one word of the table describes, or the word before it.
func TestBatchOfManyTypes(t *testing.T) {
	t.Parallel()
	const inputs, size = typesInFirst + typesInWord + 3, 5
	s, m, slot := ir.Step{Shape: []int{size}}, newMachine(t), 0
	var at []driver.Pointer
	operand := func(d ir.DType, data []byte) ir.Operand {
		at = append(at, m.put(data))
		slot++
		return ir.Operand{Slot: slot - 1, DType: d, Layout: ir.RowMajor([]int{size})}
	}
	sum := 0
	for part := range 3 {
		for i := range inputs {
			v := float64(i % 7)
			if part == 0 {
				sum += i % 7
			}
			var data []byte
			switch d := types[(i+part)%3]; d {
			case ir.Float32:
				data = singles([]float64{v})
			case ir.BFloat16:
				data = binary.LittleEndian.AppendUint16(nil, tensortype.BFloat16Bits(float32(v)))
			default:
				data = binary.LittleEndian.AppendUint16(nil, tensortype.Float16Bits(float32(v)))
			}
			s.In = append(s.In, operand(types[(i+part)%3], bytes.Repeat(data, size)))
		}
		s.Parts = append(s.Parts, ir.Part{Shape: []int{size}, Out: []int{part}})
		s.Out = append(s.Out, operand(ir.Float32, make([]byte, 4*size)))
	}
	for i := 1; i < inputs; i++ {
		x := ir.Instr{Op: ir.Add{}, Args: []int{inputs + i - 2, i}, Out: -1}
		if i == 1 {
			x.Args[0] = 0
		}
		s.Loop = append(s.Loop, x)
	}
	s.Loop[len(s.Loop)-1].Out = 0
	k, err := New(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range k.Launches(func(o ir.Operand) driver.Pointer { return at[o.Slot] }, at[0], nil) {
		m.run(k.PTX, l)
	}
	for part, o := range s.Out {
		got := make([]byte, 4*size)
		if err := m.memory.Read(got, uint64(at[o.Slot])); err != nil {
			t.Fatal(err)
		}
		if want := singles(slices.Repeat([]float64{float64(sum)}, size)); !bytes.Equal(got, want) {
			t.Errorf("part %d: %v, want %v", part, got, want)
		}
	}
}

// Scalars that are farther apart than a part can say are an error.
func TestBatchRejectsDistantScalars(t *testing.T) {
	for _, row := range []struct {
		word int
		ok   bool
	}{{1<<23 - 1, true}, {1 << 23, false}, {-1 << 23, true}, {-1<<23 - 1, false}} {
		s := batchOf([]int{6, 6})
		s.Parts[1].Word = row.word
		if _, err := New(s, 0); (err == nil) != row.ok {
			t.Errorf("%d: error %v", row.word, err)
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
