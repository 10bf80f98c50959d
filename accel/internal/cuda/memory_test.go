package cuda

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
)

// Freed memory is used for later allocations, and Trim returns it to the system for other
// libraries.
func TestTrim(t *testing.T) {
	driver, err := fake.Open(fake.Options{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("cuda:0", driver, 0, Libraries{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	free := func() int {
		t.Helper()
		free, _, err := d.ctx.MemoryInfo()
		if err != nil {
			t.Fatal(err)
		}
		return free
	}
	before := free()
	const bytes = 512 << 10
	s, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	d.Free(s)
	if got := d.Reserved(); got != bytes {
		t.Errorf("%d bytes are reserved, want %d", got, bytes)
	}
	if got := free(); got > before-bytes {
		t.Errorf("%d of %d bytes are free while the pool keeps %d", got, before, bytes)
	}
	if err := d.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := free(); got != before {
		t.Errorf("%d of %d bytes are free after Trim", got, before)
	}
	if got := d.Reserved(); got != 0 {
		t.Errorf("%d bytes are reserved after Trim", got)
	}
}
