package ptxsim

import (
	"errors"
	"strings"
	"testing"
)

// TestRaces runs blocks that access the same global memory, with and without Launch.Races.
func TestRaces(t *testing.T) {
	t.Parallel()
	const own = "\tmov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1; mad.wide.u32 %d3, %r3, 4, %d1; mad.wide.u32 %d4, %r2, 4, %d1;\n"
	for _, row := range []struct{ name, body, line, detail string }{
		{"each its own", own + "ld.global.u32 %r4, [%d3]; add.u32 %r4, %r4, 1; st.global.u32 [%d3], %r4;", "", ""},
		{"all read", own + "ld.global.u32 %r4, [%d1]; ld.global.v2.u32 {%r4, %r5}, [%d1];", "", ""},
		{"atomic sums", own + "red.global.add.u32 [%d1], 1; atom.global.add.u32 %r4, [%d1], 1; ld.relaxed.gpu.global.u32 %r4, [%d1];", "", ""},
		{"bytes of a word", own + "add.u64 %d4, %d1, %r2; st.global.u8 [%d4], %r2;", "", ""},
		{"two writes", own + "st.global.u32 [%d1], %r1;", "st.global", "block [0 0 0] writes it"},
		{"write and read", own + "st.global.u32 [%d4], %r1;\nld.global.u32 %r4, [%d1];", "ld.global", "block [0 0 0] writes it"},
		{"read and write", own + "ld.global.u32 %r4, [%d1];\nst.global.u32 [%d1], %r4;", "ld.global", "block [0 0 0] writes it"},
		{"write what another reads", own + "mov.u32 %r4, 0; setp.eq.u32 %p2, %r2, 0; @%p2 ld.global.u32 %r4, [%d1+4];\nsetp.eq.u32 %p1, %r2, 1; @%p1 st.global.u32 [%d1+4], %r4;", "st.global", "another block reads it"},
		{"write what others read", own + "ld.global.u32 %r4, [%d1+8];\nsetp.eq.u32 %p1, %r2, 2; @%p1 st.global.u32 [%d1+8], %r4;", "st.global", "other blocks read it"},
		{"half of a word", own + "st.global.u16 [%d4+2], %h1;\nld.global.u32 %r4, [%d4+4];", "st.global.u16", "another block reads it"},
		{"atomic and plain", own + "red.global.add.u32 [%d1], 1;\nsetp.eq.u32 %p1, %r2, 1; @%p1 ld.global.u32 %r4, [%d1];", "ld.global", "other blocks write it"},
		{"plain and atomic", own + "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%d1], 5;\nsetp.eq.u32 %p1, %r2, 1; @%p1 red.global.add.u32 [%d1], 1;", "red.global", "block [0 0 0] writes it"},
		{"a copy of what another writes", own + "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%d1], 5;\ncp.async.ca.shared.global [s], [%d1], 4; cp.async.wait_all;", "cp.async", "block [0 0 0] writes it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := strings.ReplaceAll(kernelOf(row.body), "add.u64 %d4, %d1, %r2;", "cvt.u64.u32 %d5, %r2; add.u64 %d4, %d1, %d5;")
			for _, watched := range []bool{false, true} {
				kernel, params := loadOnZeros(t, text)
				_, err := kernel.Run(t.Context(), Launch{Grid: Dim{X: 3}, Block: Dim{X: 1}, Params: params, Races: watched, Workers: 1})
				var f *Fault
				switch stopped := errors.As(err, &f); {
				case err != nil && !stopped:
					t.Fatal(err)
				case stopped != (watched && row.line != ""):
					t.Fatalf("watched %v: got %v", watched, err)
				case stopped && (f.Kind != Race || !strings.Contains(f.Text, row.line) || !strings.Contains(f.Detail, row.detail) || f.Space != "global"):
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// loadOnZeros loads kernel k and returns it with its two parameters, which are both the address of 4096 zero bytes.
func loadOnZeros(t *testing.T, text string) (k *LoadedKernel, params []byte) {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	memory := NewMemory(1 << 20)
	x, err := memory.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Write(x, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	loaded, err := memory.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	params = make([]byte, 16)
	putBits(params, x, 8)
	putBits(params[8:], x, 8)
	return loaded.Kernel("k"), params
}

// TestRacesOfMeetings runs blocks of which the last one to count itself reads what the others wrote.
func TestRacesOfMeetings(t *testing.T) {
	t.Parallel()
	// Each thread of three blocks writes its own word behind the counter; the last block reads the one
	// that a thread of another warp of another block wrote.
	const write = "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mad.wide.u32 %d3, %r3, 4, %d1; st.global.u32 [%d3+4], %r1;\n"
	const count = "setp.eq.u32 %p1, %r1, 0; @%p1 atom.ORDER.gpu.global.inc.u32 %r4, [%d1], 2; @%p1 st.shared.u32 [s], %r4;\n"
	const read = "ld.shared.u32 %r4, [s]; setp.eq.u32 %p2, %r4, 2; xor.b32 %r5, %r1, 32; mad.wide.u32 %d4, %r5, 4, %d1; @%p2 ld.global.u32 %r6, [%d4+4];"
	barrier := "bar.sync 0;\n"
	for _, row := range []struct {
		name, body, order string
		races             bool
	}{
		{"release and acquire", write + barrier + count + barrier + read, "acq_rel", false},
		{"relaxed", write + barrier + count + barrier + read, "relaxed", true},
		{"release only", write + barrier + count + barrier + read, "release", true},
		{"acquire only", write + barrier + count + barrier + read, "acquire", true},
		{"within a block only", strings.ReplaceAll(write+barrier+count+barrier+read, "gpu", "cta"), "acq_rel", true},
		{"counts before it has written", count + barrier + write + read, "acq_rel", true},
		{"counts before the other warp has written", write + count + barrier + read, "acq_rel", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			kernel, params := loadOnZeros(t, kernelOf(strings.ReplaceAll(row.body, "ORDER", row.order)))
			for range 2 { // the counter is zero again
				_, err := kernel.Run(t.Context(), Launch{Grid: Dim{X: 3}, Block: Dim{X: 64}, Params: params, Races: true})
				var f *Fault
				if errors.As(err, &f) != row.races || err != nil && f.Kind != Race {
					t.Fatalf("got %v", err)
				}
			}
		})
	}
}
