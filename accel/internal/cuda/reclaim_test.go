package cuda

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// After an error the rest of the memory is freed, and all errors are reported. On a lost
// device nothing more is tried.
func TestFreeTheRestAfterErrors(t *testing.T) {
	const blocks = 4
	scale := &ir.Program{
		Slots: []ir.Slot{{Kind: ir.External, Bytes: 4 * 6}, {Kind: ir.Output, Bytes: 4 * 6}},
		Steps: []ir.Step{{Shape: []int{6}, In: []ir.Operand{operand(0, 6)}, Out: []ir.Operand{operand(1, 6)}, Loop: []ir.Instr{{Op: ir.MulScalar{}, Args: []int{0}}}}},
	}
	cases := map[string]struct {
		leave func(d *Device) error // leaves memory that nothing uses
		free  func(d *Device) error
	}{
		"pool": {
			func(d *Device) error {
				var all []ir.Storage
				for range blocks {
					s, err := d.Alloc(1 << 10)
					if err != nil {
						return err
					}
					all = append(all, s)
				}
				for _, s := range all {
					d.Free(s)
				}
				return nil
			},
			(*Device).Trim,
		},
		"programs": {
			func(d *Device) error {
				bind := bound(t, d, scale)
				for range blocks {
					x, err := d.Compile(scale)
					if err != nil {
						return err
					}
					for range 2 { // the second run is a graph
						if _, err := x.Run(bind, []uint64{math.Float64bits(3)}); err != nil {
							return err
						}
					}
				}
				return nil
			},
			func(d *Device) error {
				ir.Collect()
				_, err := d.Compile(scale)
				return err
			},
		},
	}
	for name, c := range cases {
		for _, row := range []struct {
			name          string
			times         int // how many calls fail after the first
			code          driver.Code
			freed, errors int
		}{
			{"no error", 0, 0, blocks, 0},
			{"one error", 1, driver.InvalidValue, blocks - 1, 1},
			{"two errors", 2, driver.InvalidValue, blocks - 2, 2},
			{"lost device", -1, driver.ECCUncorrectable, 1, 1},
		} {
			t.Run(name+", "+row.name, func(t *testing.T) {
				gpu, d := openFake(t)
				if err := c.leave(d); err != nil {
					t.Fatal(err)
				}
				before := d.Counts().Frees
				if row.times != 0 {
					gpu.Inject(fake.Injection{Call: "Free", Skip: 1, Times: row.times, Code: row.code})
				}
				text := ""
				if err := c.free(d); err != nil {
					text = err.Error()
				}
				if n := d.Counts().Frees - before; n != row.freed {
					t.Errorf("%d of %d blocks were freed, want %d", n, blocks, row.freed)
				}
				if n := strings.Count(text, "cuMemFreeAsync"); n != row.errors {
					t.Errorf("%d errors, want %d: %s", n, row.errors, text)
				}
				if err := d.Close(); err != nil && row.code != driver.ECCUncorrectable {
					t.Error(err)
				}
			})
		}
	}
}
