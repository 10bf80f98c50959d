package cpu

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestBatchHasTheBitsOfItsParts computes a - b·s in one step for vectors of several lengths, each with its own s,
// and in one step for each.
func TestBatchHasTheBitsOfItsParts(t *testing.T) {
	lengths := []int{1, 10, 64, blockLen + 5, 3, 3 * blockLen, 70, 2*blockLen - 64, 7}
	batch := ir.Step{Loop: []ir.Instr{{Op: ir.MulScalar{}, Args: []int{1}, Out: -1}, {Op: ir.Sub{}, Args: []int{0, 2}, Out: 0}}}
	program := ir.Program{}
	var words []uint64
	var values []float32
	for i, n := range lengths {
		operand := func(kind ir.SlotKind) ir.Operand {
			program.Slots = append(program.Slots, ir.Slot{Kind: kind, Bytes: 4 * n})
			return ir.Operand{Slot: len(program.Slots) - 1, DType: ir.Float32, Layout: ir.RowMajor([]int{n})}
		}
		batch.In = append(batch.In, operand(ir.External), operand(ir.External))
		batch.Out = append(batch.Out, operand(ir.Output))
		batch.Parts = append(batch.Parts, ir.Part{Shape: []int{n}, Word: i, Out: []int{i}})
		words = append(words, math.Float64bits(1/float64(i+3)))
		for k := range 2 * n {
			values = append(values, float32(math.Sin(float64(k+i))))
		}
	}
	batch.Shape = batch.Parts[0].Shape
	whole, apart := program, program
	whole.Steps = []ir.Step{batch}
	for i := range batch.Parts {
		apart.Steps = append(apart.Steps, batch.Part(i))
	}
	results := func(threads int, p ir.Program) (all []byte) {
		d := New(threads)
		defer d.Close()
		exec, err := d.Compile(&p)
		if err != nil {
			t.Fatal(err)
		}
		var bind []ir.Storage
		rest := values
		for _, s := range p.Slots {
			m, _ := d.Alloc(s.Bytes)
			if s.Kind == ir.External {
				copy(elementsOf(m), rest[:s.Bytes/4])
				rest = rest[s.Bytes/4:]
			}
			bind = append(bind, m)
		}
		if _, err := exec.Run(bind, words); err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Slots {
			if s.Kind == ir.Output {
				all = append(all, d.Bytes(bind[i])[:s.Bytes]...)
			}
		}
		return all
	}
	want := results(1, apart)
	for _, threads := range []int{1, 2, 3} {
		if !slices.Equal(results(threads, whole), want) {
			t.Errorf("%d threads: the batch has other bits than its parts", threads)
		}
	}
}

func elementsOf(s ir.Storage) []float32 {
	return unsafe.Slice((*float32)(s.(*storage).base), s.Size()/4)
}
