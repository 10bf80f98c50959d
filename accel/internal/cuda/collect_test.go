package cuda

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestDroppedMemoryIsCollected drops blocks that nobody frees. The garbage collector has no reason
// to run, since they take hardly any memory of the host.
func TestDroppedMemoryIsCollected(t *testing.T) {
	gpu := fake.Counting(fake.H100, &fake.Modules{})
	d, err := Open("counting", gpu, 0, Libraries{})
	if err != nil {
		t.Fatal(err)
	}
	var kept []ir.Storage
	for i := range 200 {
		s, err := d.Alloc(1 << 30)
		if err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			kept = append(kept, s)
		}
	}
	if c := gpu.Total(); c.Peak > 12<<30 {
		t.Errorf("4 of 200 blocks of 1 GiB are in use, but %d bytes were allocated", c.Peak)
	}
	for _, s := range kept {
		d.Free(s)
	}
}
