// Ops prints which ops each device has kernels for, and which it computes by their compositions. An op for
// which it has neither fails when a program is compiled for it.
//
//	go run ./accel/internal/ops
//
// The test compares the list with testdata/ops.txt, which -update writes.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func main() {
	if err := list(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ops:", err)
		os.Exit(1)
	}
}

// list writes a row for each op, and the ops that each device lacks.
func list(w io.Writer) error {
	devices := []struct {
		name    string
		kernels ir.KernelLister
		lacks   []string
	}{{name: "cpu", kernels: &cpu.Device{}}, {name: "cuda", kernels: &cuda.Device{}}}

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "op")
	for _, d := range devices {
		fmt.Fprint(t, "\t", d.name)
	}
	fmt.Fprintln(t)
	for _, op := range ir.Table() {
		fmt.Fprint(t, op.Name())
		for i, d := range devices {
			how := "kernel"
			_, composes := op.(ir.Composer)
			switch {
			case composes && !d.kernels.HasKernel(op, ir.Float32):
				how = "composition"
			case composes && !d.kernels.HasKernel(op, ir.Float64):
				how = "kernel, float64: composition"
			case d.kernels.HasKernel(op, ir.Float32):
			case ir.IsView(op):
				how = "view"
			default:
				how = "-"
				devices[i].lacks = append(d.lacks, op.Name())
			}
			fmt.Fprint(t, "\t", how)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range devices {
		if d.lacks == nil {
			d.lacks = []string{"nothing"}
		}
		if _, err := fmt.Fprintf(w, "\n%s lacks %s\n", d.name, strings.Join(d.lacks, ", ")); err != nil {
			return err
		}
	}
	return nil
}
