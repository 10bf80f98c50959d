package ptxsim

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// kernelOf wraps text in a kernel with two pointers, 64 words of shared memory
// and some registers.
func kernelOf(body string) string {
	return `.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b32 s[64];
.visible .entry k(.param .u64 x, .param .u64 y)
{
	.reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b64 %d<19>; .reg .pred %p<9>;
	.local .align 8 .b8 l[16];
	ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %tid.x;
` + body + `
	ret;
}`
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const store = "\tshl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;\n"
	for _, row := range []struct {
		name, body string
		threads    uint32
		kind       FaultKind
		line       string // the line in the fault
		thread     int
		detail     string
	}{
		{"read past the end", "mad.wide.u32 %d3, %r1, 4, %d1;\nld.global.u32 %r2, [%d3];", 65, OutOfBounds, "ld.global", 64, "offset 256 of an allocation of 256"},
		{"write before the start", "st.global.u32 [%d1+-4], %r1;", 1, OutOfBounds, "st.global", 0, ""},
		{"null pointer", "mov.u64 %d1, 0;\nld.global.u8 %r2, [%d1];", 1, OutOfBounds, "ld.global", 0, "no allocation near"},
		{"misaligned", "ld.global.v2.u32 {%r2, %r3}, [%d1+4];", 1, Misaligned, "ld.global", 0, "multiple of 8"},
		{"misaligned atomic", "atom.global.add.u32 %r2, [%d1+2], 1;", 1, Misaligned, "atom.global", 0, "multiple of 4"},
		{"global never written", "ld.global.u32 %r2, [%d2+4];", 1, Uninitialized, "ld.global", 0, "never written"},
		{"partly written", "st.global.u16 [%d2], %h1;\nld.global.u32 %r2, [%d2];", 1, Uninitialized, "ld.global", 0, "byte 2"},
		{"shared never written", "ld.shared.u32 %r2, [s+8];", 1, Uninitialized, "ld.shared", 0, ""},
		{"local never written", "ld.local.u32 %r2, [l+4];", 1, Uninitialized, "ld.local", 0, ""},
		{"local past the end", "st.local.u64 [l+16], %d1;", 1, OutOfBounds, "st.local", 0, "16 bytes"},
		{"shared past the end", "st.shared.u32 [s+256], %r1;", 1, OutOfBounds, "st.shared", 0, "256 bytes"},
		{"generic shared past the end", "mov.u32 %r2, s; cvt.u64.u32 %d3, %r2; cvta.shared.u64 %d3, %d3;\nst.u32 [%d3+256], %r1;", 1, OutOfBounds, "st.u32", 0, ""},
		{"parameters past the end", "ld.param.u32 %r2, [y+8];", 1, OutOfBounds, "ld.param", 0, "16 bytes of parameters"},
		{"wrong space", "cvta.to.shared.u64 %d3, %d1;", 1, OutOfBounds, "cvta.to", 0, "another space"},
		{"read after write of another warp", store + "st.shared.u32 [%r3], %r1;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 ld.shared.u32 %r4, [s+8];", 64, Race, "ld.shared", 32, "wrote it"},
		{"read after write of another lane", store + "st.shared.u32 [%r3], %r1;\nxor.b32 %r2, %r2, 4; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;\nld.shared.u32 %r4, [%r3];", 32, Race, "ld.shared", 0, "wrote it"},
		{"write after read of another warp", store + "st.shared.u32 [%r3], %r1; bar.sync 0;\nld.shared.u32 %r4, [s];\nsetp.eq.u32 %p1, %r1, 33;\n@%p1 st.shared.u32 [s], %r1;", 64, Race, "@%p1 st.shared", 33, "read it"},
		{"write after read of another lane", store + "st.shared.u32 [%r3], %r1; bar.sync 0;\nld.shared.u32 %r4, [s];\nsetp.eq.u32 %p1, %r1, 5;\n@%p1 st.shared.u32 [s], %r1;", 32, Race, "@%p1 st.shared", 5, "read it"},
		{"two writes of different values", "st.shared.u32 [s], %r1;", 2, Race, "st.shared", 1, "wrote it"},
		{"write beside an atomic", "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0;\natom.shared.add.u32 %r2, [s], 1;\nsetp.eq.u32 %p1, %r1, 32;\n@%p1 st.shared.u32 [s], 0;", 64, Race, "@%p1 st.shared", 32, "wrote it"},
		{"halves of a word", "shl.b32 %r2, %r1, 1; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; cvt.u16.u32 %h1, %r1; st.shared.u16 [%r3], %h1;\nld.shared.u32 %r4, [s];", 2, Race, "ld.shared", 0, "wrote it"},
		{"barrier in divergent code", "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra A;\nbar.sync 0;\nA:", 32, DivergentBarrier, "bar.sync", 0, "have not ended"},
		{"barrier that one warp skips", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1, 64;\nA:", 64, DivergentBarrier, "bar.sync", 32, "every warp waits"},
		{"warps at different barriers", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nB:", 64, DivergentBarrier, "bar.sync", 32, "other warps wait"},
		{"barrier for half a warp", "bar.sync 0, 48;", 64, Trapped, "bar.sync", 0, "multiple of 32"},
		{"shuffle from an ended lane", "setp.ge.u32 %p1, %r1, 16; @%p1 ret;\nshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;", 32, InactiveLane, "shfl", 0, "lane 16"},
		{"shuffle in divergent code", "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra A;\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nA:", 32, InactiveLane, "shfl", 16, "member mask"},
		{"vote that leaves a lane out", "vote.sync.ballot.b32 %r2, 1, 0xffff;", 32, InactiveLane, "vote", 16, "member mask"},
		{"product in half a warp", "setp.ge.u32 %p1, %r1, 16;\n@%p1 mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3,%r4,%r5};", 32, InactiveLane, "mma", 0, "32 lanes"},
		{"cp.async not waited for", "cp.async.ca.shared.global [s], [%d1], 4;\nld.shared.u32 %r2, [s];", 1, Race, "ld.shared", 0, "waited for"},
		{"cp.async in the newest group", "cp.async.ca.shared.global [s], [%d1], 4; cp.async.commit_group; cp.async.wait_group 1;\nld.shared.u32 %r2, [s];", 1, Race, "ld.shared", 0, "waited for"},
		{"cp.async of another thread", "setp.eq.u32 %p1, %r1, 0; @%p1 cp.async.ca.shared.global [s], [%d1], 4; cp.async.wait_all;\nld.shared.u32 %r2, [s];", 64, Race, "ld.shared", 1, "wrote it"},
		{"cp.async over what is read", "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r2, [s];\nsetp.eq.u32 %p1, %r1, 32;\n@%p1 cp.async.ca.shared.global [s], [%d1], 4;", 64, Race, "cp.async", 32, "read it"},
		{"trap", "trap;", 1, Trapped, "trap", 0, ""},
		{"uniform branch that is not", "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra.uni A;\nA:", 32, Trapped, "bra.uni", 0, ".uni"},
		{"endless loop", "A: bra A;", 1, BudgetSpent, "bra A", 0, "instructions"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := newSimulator(t)
			k := m.load(kernelOf(row.body)).Kernel("k")
			x, y := put(m, make([]uint32, 64)), m.alloc(64)
			_, err := k.Run(context.Background(), Launch{Block: Dim{X: row.threads}, Params: params(k, x, y), MaxSteps: 1e6})
			var f *Fault
			if !errors.As(err, &f) {
				t.Fatalf("error %v, want a fault", err)
			}
			if f.Kind != row.kind || !strings.Contains(f.Text, row.line) || f.Thread != [3]int{row.thread} || !strings.Contains(f.Error(), row.detail) {
				t.Errorf("got %v\nwant %v at %q, thread %d, %q", f, row.kind, row.line, row.thread, row.detail)
			}
		})
	}
}

// Correct programs must not be stopped.
func TestNoFaults(t *testing.T) {
	t.Parallel()
	const own = "\tshl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;\n"
	for name, body := range map[string]string{
		"own words":                     own + "st.shared.u32 [%r3], %r1; ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r3], %r4;",
		"barrier between":               own + "st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r4, [s+4]; bar.sync 0; st.shared.u32 [%r3], %r4;",
		"warp barrier between":          own + "st.shared.u32 [%r3], %r1; bar.warp.sync -1; xor.b32 %r2, %r2, 4; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3];",
		"same value":                    "st.shared.u32 [s], 7;",
		"halves":                        "shl.b32 %r2, %r1, 1; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; cvt.u16.u32 %h1, %r1; st.shared.u16 [%r3], %h1; bar.sync 0; ld.shared.u32 %r4, [s]; ld.shared.u16 %h2, [s+2]; bar.sync 0; st.shared.u16 [%r3], %h2;",
		"atomics":                       "st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1; bar.sync 0; ld.shared.u32 %r2, [s];",
		"producer and consumer":         "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; mov.u32 %r3, s; st.shared.u32 [%r3], 5; bar.arrive 1, 64; bra B; A: bar.sync 1, 64; ld.shared.u32 %r4, [s]; B:",
		"barrier without ended threads": "setp.ge.u32 %p1, %r1, 40; @%p1 ret; bar.sync 0;",
		"shuffle of some":               "setp.ge.u32 %p1, %r1, 16; @%p1 bra A; shfl.sync.idx.b32 %r2, %r1, 3, 31, 0xffff; A:",
		"asynchronous copy":             "setp.eq.u32 %p1, %r1, 0; @%p1 cp.async.ca.shared.global [s], [%d1], 8; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; ld.shared.v2.u32 {%r2, %r3}, [s];",
		"nested divergence":             "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra A; and.b32 %r2, %r1, 2; setp.eq.u32 %p2, %r2, 0; @%p2 bra B; add.u32 %r4, %r1, 1; B: add.u32 %r4, %r1, 2; A: bar.sync 0; vote.sync.any.pred %p3, %p1, -1;",
		"loop of different lengths":     "and.b32 %r2, %r1, 7; A: sub.u32 %r2, %r2, 1; setp.gt.s32 %p1, %r2, 0; @%p1 bra A; bar.sync 0;",
		"waiting for another warp":      "setp.ge.u32 %p1, %r1, 32; @%p1 bra W; A: ld.volatile.global.u32 %r3, [%d1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra A; bra E; W: atom.global.exch.b32 %r4, [%d1], 1; E:",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSimulator(t)
			k := m.load(kernelOf(body)).Kernel("k")
			x, y := put(m, make([]uint32, 64)), m.alloc(64)
			for range 3 { // shared memory of earlier blocks must not matter
				if _, err := k.Run(context.Background(), Launch{Grid: Dim{X: 3}, Block: Dim{X: 64}, Params: params(k, x, y), MaxSteps: 1e6, Workers: 1}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A grid that begins early must wait before it accesses global memory, in each thread, and before it ends.
func TestTooEarly(t *testing.T) {
	t.Parallel()
	const wait, start, lower = "griddepcontrol.wait;\n", "griddepcontrol.launch_dependents;\n", "setp.lt.u32 %p1, %r1, 40;\n"
	for name, row := range map[string]struct {
		body   string
		line   string // of the fault; empty for none
		thread int
	}{
		"wait first":                 {wait + start + "ld.global.u32 %r2, [%d1]; st.global.u32 [%d2], %r2;", "", 0},
		"dependents before the wait": {start + wait + "red.global.add.u32 [%d1], 1;", "", 0},
		"shared memory before":       {"st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r2, [s]; " + wait + "st.global.u32 [%d1], %r2;", "", 0},
		"wait twice":                 {wait + "ld.global.u32 %r2, [%d1]; " + wait, "", 0},
		"wait of both branches":      {lower + "@%p1 bra A; " + wait + "ret; A: " + wait + "ld.global.u32 %r2, [%d1];", "", 0},
		"no wait":                    {start + "ld.global.u32 %r2, [%d1];", "ld.global", 0},
		"read before":                {"ld.global.u32 %r2, [%d1];\n" + wait, "ld.global", 0},
		"generic read before":        {"ld.u32 %r2, [%d1];\n" + wait, "ld.u32", 0},
		"write before":               {"st.global.u32 [%d1], 0;\n" + wait, "st.global", 0},
		"atomic instruction before":  {"red.global.add.u32 [%d1], 1;\n" + wait, "red.global", 0},
		"copy before":                {"setp.eq.u32 %p2, %r1, 0;\n@%p2 cp.async.ca.shared.global [s], [%d1], 4;\n" + wait, "cp.async", 0},
		"some threads wait":          {lower + "@%p1 " + wait + "ld.global.u32 %r2, [%d1];", "ld.global", 40},
		"some threads end before":    {lower + "@%p1 ret;\n" + wait, "ret", 0},
		"nothing but an end":         {"", "ret", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSimulator(t)
			k := m.load(kernelOf(row.body)).Kernel("k")
			x, y := put(m, make([]uint32, 64)), m.alloc(64)
			for _, early := range []bool{false, true, true} { // a block also after an earlier one
				_, err := k.Run(context.Background(), Launch{Grid: Dim{X: 2}, Block: Dim{X: 64}, Params: params(k, x, y), MaxSteps: 1e6, Workers: 1, Early: early})
				var f *Fault
				switch {
				case !early || row.line == "":
					if err != nil {
						t.Fatalf("early %v: %v", early, err)
					}
				case !errors.As(err, &f) || f.Kind != TooEarly || !strings.Contains(f.Text, row.line) || f.Thread != [3]int{row.thread}:
					t.Errorf("got %v, want a fault of thread %d at %q", err, row.thread, row.line)
				}
			}
		})
	}
}

func TestContextEndsRun(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.load(kernelOf("A: bra A;")).Kernel("k")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := k.Run(ctx, Launch{Grid: Dim{X: 9}, Block: Dim{X: 64}, Params: params(k, 0, 0)})
	var f *Fault
	if !errors.Is(err, context.Canceled) || !errors.As(err, &f) || f.Kind != BudgetSpent {
		t.Errorf("got %v", err)
	}
}

// The fault is that of the first block, independent of the distribution of blocks over workers.
func TestFaultOfFirstBlock(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.load(kernelOf("mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r2, 5; @%p1 ret; trap;")).Kernel("k")
	for range 20 {
		_, err := k.Run(context.Background(), Launch{Grid: Dim{X: 50}, Params: params(k, 0, 0), Workers: 4})
		var f *Fault
		if !errors.As(err, &f) || f.Block != [3]int{5} {
			t.Fatalf("got %v, want the fault of block 5", err)
		}
	}
}
