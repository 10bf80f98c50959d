package ptxsim

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, body, want string }{
		{"unknown instruction", "tex.1d.v4.f32.s32 {%r1}, [x];", "instruction tex is not supported"},
		{"instruction of no generator", "slct.s32.s32 %r1, %r2, %r3, %r4;", "instruction slct is not supported"},
		{"unknown modifier", "add.fast.s32 %r1, %r2, %r3;", ".fast is not supported"},
		{"modifier too many", "add.s32.u32 %r1, %r2, %r3;", ".u32 is not supported"},
		{"unknown register", "add.s32 %r1, %zz, %r3;", "%zz is not declared"},
		{"register beyond its family", "add.s32 %r1, %r99, %r3;", "%r99 is not declared"},
		{"register of another width", "add.s32 %r1, %d1, %r3;", "has 64 bits"},
		{"too few operands", "add.s32 %r1, %r2;", "2 operands"},
		{"unknown label", "bra NOWHERE;", "NOWHERE is not defined"},
		{"integer for float", "add.f32 %r1, %r2, 1;", "integer constant"},
		{"double for float", "add.f32 %r1, %r2, 0d3FF0000000000000;", "floating-point constant"},
		{"unknown function", "call f, ();", "f, which is not defined"},
		{"unknown space", "ld.surface.u32 %r1, [%d1];", "surface"},
		{"store to constant memory", "st.const.u32 [%d1], %r1;", "read-only"},
		{"address in 32 bits", "ld.global.u32 %r1, [%r2];", "needs a 64-bit register"},
		{"unknown mma", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1}, {%d1}, {%d1}, {%d1};", "not supported"},
		{"vector of the wrong length", "ld.global.v4.u32 {%r1, %r2}, [%d1];", "2 elements, not 4"},
		{"predicate as number", "add.s32 %r1, %p1, %r2;", "not a register"},
		{"number as predicate", "@%r1 ret;", "a predicate is expected"},
		{"label twice", "A: ret; A: ret;", "defined twice"},
		{"open comment", "/* ", "comment without an end"},
		{"rounding that does not exist", "add.rm.f16 %h1, %h2, %h3;", "can only be rounded with .rn"},
		{"conversion without rounding", "cvt.f16.f32 %h1, %r1;", "needs rounding"},
		{"atomic that does not exist", "atom.global.sub.u32 %r1, [%d1], %r2;", "one of"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(kernelOf(row.body))
			var e *ParseError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("got %v, want %q", err, row.want)
			}
			if e.Line != 10 && row.name != "open comment" {
				t.Errorf("line %d, want 10", e.Line)
			}
		})
	}
}

func TestParseRejectsRecursion(t *testing.T) {
	t.Parallel()
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n"
	_, err := Parse(head + ".func f() { call f, (); ret; }\n.visible .entry k() { call f, (); ret; }")
	if err == nil || !strings.Contains(err.Error(), "recursion") {
		t.Errorf("got %v", err)
	}
	// Every function calls the previous one twice: 2^30 bodies.
	text := head + ".func f0() { ret; }\n"
	for i := 1; i <= 30; i++ {
		name := func(n int) string { return "f" + string(rune('0'+n/10)) + string(rune('0'+n%10)) }
		if i == 1 {
			text = head + ".func " + name(0) + "() { ret; }\n"
		}
		text += ".func " + name(i) + "() { call " + name(i-1) + ", (); call " + name(i-1) + ", (); ret; }\n"
	}
	_, err = Parse(text + ".visible .entry k() { call f30, (); ret; }")
	if err == nil || !strings.Contains(err.Error(), "after expanding calls") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".ptx") {
			text, err := os.ReadFile("testdata/" + file.Name())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, seed := range []string{"", ".version 7.0", kernelOf(""), kernelOf("A: @!%p1 bra A;"), kernelOf("mov.b64 {%r1, _}, %d1;"),
		kernelOf("{ .reg .b32 t; ld.const.v2.u32 {t, %r1}, [c+-4]; }"), ".version 8.0 .target sm_90a .global .align 4 .b8 g[8] = {1, 2, {3}};",
		kernelOf("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1,%r2,%r3,%r4},{%r1,%r2,%r3,%r4},{%r1,%r2},{%r1,%r2,%r3,%r4};"),
		kernelOf("t: .branchtargets A, A; brx.idx %r1, t; A:"), kernelOf("shfl.sync.bfly.b32 %r1|%p1, %r2, 0x10, 31, -1;"), kernelOf("call (r), f, (a, b);"),
		kernelOf("bar.red.popc.u32 %r1, 0, 32, !%p1;"), kernelOf("cp.async.cg.shared.global.L2::128B [s], [%d1+16], 16, %r1;"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			var e *ParseError
			if !errors.As(err, &e) {
				t.Fatalf("error %v is not a ParseError", err)
			}
			return
		}
		for _, name := range m.Kernels() {
			if m.kernels[name] == nil {
				t.Fatalf("kernel %s is missing", name)
			}
		}
	})
}
