// Ops prints which ops each device implements. An op that a device lacks fails when a
// program is compiled for it.
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
	"github.com/quernlab/quern/accel/internal/ir"
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
		name       string
		implements func(ir.Op) bool
		lacks      []string
	}{{name: "cpu", implements: cpu.Implements}, {name: "cuda", implements: cuda.Implements}}

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
			switch {
			case d.implements(op):
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
