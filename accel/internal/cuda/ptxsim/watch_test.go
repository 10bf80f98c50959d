package ptxsim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// strided returns addresses of 32 lanes.
func strided(stride uint64) []uint64 {
	a := make([]uint64, 32)
	for i := range a {
		a[i] = 1024 + uint64(i)*stride
	}
	return a
}

func TestWavefronts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		addresses []uint64
		size      int
		atomic    bool
		n, ideal  int
	}{
		{"neighbors", strided(4), 4, false, 1, 1},
		{"every second word", strided(8), 4, false, 2, 1},
		{"a column of 32 words", strided(128), 4, false, 32, 1},
		{"a column of 33 words", strided(132), 4, false, 1, 1},
		{"one word for all", strided(0), 4, false, 1, 1},
		{"one word for all, atomically", strided(0), 4, true, 32, 1},
		{"neighboring bytes", strided(1), 1, false, 1, 1},
		{"neighbors of 8 bytes", strided(8), 8, false, 2, 2},
		{"every second element of 8 bytes", strided(16), 8, false, 4, 2},
		{"neighbors of 16 bytes", strided(16), 16, false, 4, 4},
		{"four lanes", strided(128)[:4], 4, false, 4, 1},
	} {
		if n, ideal := wavefronts(c.addresses, c.size, c.atomic); n != c.n || ideal != c.ideal {
			t.Errorf("%s: %d, ideally %d; want %d and %d", c.name, n, ideal, c.n, c.ideal)
		}
	}
}

func TestSectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		addresses []uint64
		size      int
		n, ideal  int
	}{
		{"neighbors", strided(4), 4, 4, 4},
		{"every second element", strided(8), 4, 8, 4},
		{"a column", strided(128), 4, 32, 4},
		{"one element for all", strided(0), 4, 1, 1},
		{"neighbors of 8 bytes", strided(8), 8, 8, 8},
		{"bytes", strided(1), 1, 1, 1},
		{"not aligned to a sector", strided(4)[4:12], 4, 2, 1},
	} {
		if n, ideal := sectors(c.addresses, c.size); n != c.n || ideal != c.ideal {
			t.Errorf("%s: %d, ideally %d; want %d and %d", c.name, n, ideal, c.n, c.ideal)
		}
	}
}

// located is a kernel whose threads write element tid/2 of x, from line 7 of a file, and then read it, from line 8.
const located = `.version 7.0
.target sm_80
.address_size 64
.file 1 "cell[3]"
.visible .entry k(.param .u64 x)
{
	.reg .b32 %r<4>; .reg .b64 %l<4>;
	.loc 1 7 2
	ld.param.u64 %l0, [x];
	mov.u32 %r0, %tid.x;
	shr.u32 %r1, %r0, SHIFT;
	mul.wide.u32 %l1, %r1, 4;
	add.s64 %l2, %l0, %l1;
	st.global.u32 [%l2], %r0;
	.loc 1 8 2
	BARRIER
	ld.global.u32 %r2, [%l0+4];
	ret;
}`

func runWatched(t *testing.T, text string) (*Watch, error) {
	t.Helper()
	mod, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m := NewMemory(1 << 20)
	loaded, err := m.Load(mod)
	if err != nil {
		t.Fatal(err)
	}
	at, err := m.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(at, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	params := make([]byte, 8)
	putBits(params, at, 8)
	w := &Watch{}
	_, err = loaded.Kernel("k").Run(t.Context(), Launch{Block: Dim{X: 64}, Params: params, Races: true, Watch: w})
	return w, err
}

// A watched run finds races of one block for global memory, with both positions, and counts by position.
func TestWatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shift, barrier, want string }{
		{"0", "bar.sync 0;", ""},
		{"1", "bar.sync 0;", "thread [1 0 0] at cell[3]:7 with [0 0 0] at cell[3]:7, which writes: true"},
		{"0", "", "thread [0 0 0] at cell[3]:8 with [1 0 0] at cell[3]:7, which writes: true"},
	} {
		w, err := runWatched(t, strings.NewReplacer("SHIFT", c.shift, "BARRIER", c.barrier).Replace(located))
		got := ""
		var f *Fault
		if errors.As(err, &f) {
			got = fmt.Sprintf("thread %v at %v with %v at %v, which writes: %v", f.Thread, f.Source, f.Other.Thread, f.Other.Source, f.Other.Write)
		}
		if got != c.want || c.want != "" && f.Kind != Race {
			t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
		}
		if c.want == "" {
			all := fmt.Sprint(w.Counts()[Source{"cell[3]", 7, 2}], w.Counts()[Source{"cell[3]", 8, 2}])
			if all != "{2 8 8 0 0 0} {2 2 2 0 0 0}" {
				t.Error(all)
			}
		}
	}
}

// A fault names the position of .loc, which may be missing.
func TestSource(t *testing.T) {
	t.Parallel()
	_, err := runWatched(t, strings.NewReplacer("SHIFT", "0", "BARRIER", "trap;").Replace(located))
	if err == nil || !strings.Contains(err.Error(), "from cell[3]:8") {
		t.Error(err)
	}
	text := strings.NewReplacer("SHIFT", "0", "BARRIER", "trap;", ".loc 1 7 2", "", ".loc 1 8 2", "").Replace(located)
	if _, err = runWatched(t, text); err == nil || strings.Contains(err.Error(), "from") {
		t.Error(err)
	}
}

// Lanes that leave a loop at different times meet behind it, although others return inside it.
func TestExitInLoop(t *testing.T) {
	t.Parallel()
	text := `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
	.reg .b32 %r<4>; .reg .pred %p<4>;
	mov.u32 %r0, %tid.x;
	and.b32 %r1, %r0, 7;
LOOP:
	setp.eq.u32 %p0, %r0, 5;
	@%p0 exit;
	setp.ne.u32 %p1, %r0, 9;
	@%p1 bra NEXT;
	ret;
NEXT:
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra OUT;
	sub.u32 %r1, %r1, 1;
	bra LOOP;
OUT:
	bar.sync 0;
	ret;
}`
	if _, err := runWatched(t, text); err != nil {
		t.Error(err)
	}
}
