package interp_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		s, err := interp.New()
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func benchmarkCell(b *testing.B, before int, src string) {
	n := newNotebook(b)
	for i := range before {
		n.run(fmt.Sprintf("v%d := %d\nfunc f%d() int { return v%d }", i, i, i, i))
	}
	for b.Loop() {
		n.cell++
		if _, err := n.Execute(context.Background(), n.cell, src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrivialCell(b *testing.B)    { benchmarkCell(b, 0, "1 + 1") }
func BenchmarkTrivialCell300(b *testing.B) { benchmarkCell(b, 300, "1 + 1") }
func BenchmarkPrintCell(b *testing.B)      { benchmarkCell(b, 0, "x := 1\nfmt.Println(x)") }
func BenchmarkFunctionCell(b *testing.B) {
	benchmarkCell(b, 0, "func f(n int) int { if n < 2 { return n }; return f(n-1) + f(n-2) }")
}

// BenchmarkLong compiles and runs cells of many parts.
func BenchmarkLong(b *testing.B) {
	for _, row := range long {
		if row.want == nil {
			continue
		}
		for _, parts := range []int{row.n, 4 * row.n} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(row.name, " ", "_"), parts), func(b *testing.B) {
				src := row.cell(parts)
				for b.Loop() {
					b.StopTimer()
					n := newNotebook(b)
					b.StartTimer()
					if _, err := n.Execute(context.Background(), 1, src); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestMemory runs many small cells. It takes half a minute and runs when
// QUERN_LONG is set.
func TestMemory(t *testing.T) {
	if os.Getenv("QUERN_LONG") == "" {
		t.Skip("set QUERN_LONG to run 10 000 cells")
	}
	n := newNotebook(t)
	for i := range 10_000 {
		var src string
		switch i % 4 {
		case 0:
			src = fmt.Sprintf("x := %d\nx + 1", i)
		case 1:
			src = "fmt.Println(x)"
		case 2:
			src = fmt.Sprintf("func f() int { return x + %d }", i)
		case 3:
			src = "f()"
		}
		n.cell++
		if _, err := n.Execute(context.Background(), n.cell, src); err != nil {
			t.Fatal(err)
		}
		n.out.take()
	}
	heap(t, "10 000 cells")
	for range 1000 {
		n.cell++
		if _, err := n.Execute(context.Background(), n.cell, "big := make([]byte, 10<<20)\nbig[1] = 1"); err != nil {
			t.Fatal(err)
		}
	}
	heap(t, "and 1 000 cells that hold 10 MB")
}

func heap(t *testing.T, what string) {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%s: heap %d MB, from the system %d MB", what, m.HeapAlloc>>20, m.Sys>>20)
	if m.HeapAlloc > 300<<20 {
		t.Errorf("%s: %d MB", what, m.HeapAlloc>>20)
	}
}

func benchmarkTool(b *testing.B, tool func(n *notebook)) {
	n := newNotebook(b)
	for i := range 300 {
		n.run(fmt.Sprintf("v%d := %d\ntype T%d struct{ A, B int }\nfunc f%d(t T%d) int { return v%d }", i, i, i, i, i, i))
	}
	for b.Loop() {
		tool(n)
	}
}

func BenchmarkCompleteMember300(b *testing.B) {
	src := "func g(t T7) {\n\tfmt.Println(t."
	benchmarkTool(b, func(n *notebook) { n.Complete(src, len(src)) })
}

func BenchmarkCompleteName300(b *testing.B) {
	src := "func g(t T7) {\n\tfmt.Println(v"
	benchmarkTool(b, func(n *notebook) { n.Complete(src, len(src)) })
}

func BenchmarkCompleteBroken300(b *testing.B) {
	src := "x := = 3\np := T7{}\np."
	benchmarkTool(b, func(n *notebook) { n.Complete(src, len(src)) })
}

func BenchmarkInspect300(b *testing.B) {
	src := "fmt.Println(f7(T7{}))"
	benchmarkTool(b, func(n *notebook) { n.Inspect(src, 13, 0) })
}

func BenchmarkInspectValue300(b *testing.B) {
	benchmarkTool(b, func(n *notebook) { n.Inspect("v7", 1, 0) })
}
