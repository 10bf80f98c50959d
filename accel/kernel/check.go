package kernel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/kernel/internal/compile"
	"github.com/quernlab/quern/accel/kernel/internal/device"
	"github.com/quernlab/quern/display"
)

// Report is what [Check] has counted.
type Report struct {
	Kernel string // its name
	// Lines are the lines that access slices or shared arrays, in the order of the source.
	Lines []Line
	// Output is what a kernel in CUDA C++ has printed with printf.
	Output string
	Work   Work // that all lines have done
	// Fault is what stopped the kernel; nil if it is correct for these arguments.
	Fault *Fault
}

// Work is what a kernel has executed on the simulated GPU.
type Work struct {
	Blocks int // that ran
	// Instructions are those that warps have executed, without branches and barriers.
	Instructions int
	// FLOPs are the additions, subtractions, multiplications and divisions of floats by all threads, also those in functions of package math.
	FLOPs int
	// Loaded and Stored are the bytes that threads have read from and written to tensors, the same byte again and again; an atomic operation does both.
	Loaded, Stored int
}

// Line is a line of a kernel with what its accesses cost on a GPU, counted over all warps. Threads of a warp access memory together.
type Line struct {
	File string // such as cell[3]
	Line int    // in the file
	Text string // of the line
	// Global is how many times a warp has accessed elements of tensors here; Sectors is how many sectors of 32 bytes that moved,
	// and IdealSectors how many it would have moved if the threads accessed neighboring elements.
	Global, Sectors, IdealSectors int
	// Shared is how many times a warp has accessed shared arrays here; Wavefronts is how often the memory had to serve these
	// accesses, and BankConflicts how many of these times are due to threads that access different words in the same bank.
	Shared, Wavefronts, BankConflicts int
}

// Access is the other one of two accesses that race.
type Access struct {
	// Block and Thread are the positions of the block in the grid and of the thread in the block.
	Block, Thread [3]int
	File          string // such as cell[3]
	Line          int    // in the file
	Write         bool   // whether it writes
}

// Check runs a kernel with arguments as for [Kernel.Launch] on a simulated GPU, on any machine, and leaves the tensors as they are. The error is
// a *[Fault] if the kernel is wrong for these arguments:
//
//   - two threads access an element, at least one of them writes it, and no barrier is in between, or they belong to different blocks (a race):
//     the fault has both lines. Atomic operations do not race with each other, nor do two threads that write the same value to a shared array.
//   - a thread reads an element of a shared array that no thread has written,
//   - not all threads reach a barrier, a shuffle or a vote,
//   - a thread does something for which Launch returns a fault, too.
//
// The report counts memory transactions and bank conflicts for each line. It is not nil if the error is a fault.
//
//	report, err := kernel.Check(k, kernel.Grid(n, 256), float32(2), x, y)
//
// What Check finds depends on the arguments; it says nothing about others. It takes about a microsecond for an instruction of a warp, so use
// small tensors.
func Check(k *Kernel, s Shape, args ...any) (*Report, error) {
	return CheckContext(context.Background(), k, s, args...)
}

// CheckContext is [Check] with a context, whose end ends the kernel.
func CheckContext(ctx context.Context, k *Kernel, s Shape, args ...any) (*Report, error) {
	if err := interrupt.RequireContext(ctx, "kernel: Check"); err != nil {
		return nil, err
	}
	return check(ctx, k, s, 0, args)
}

// check is CheckContext. After enough instructions of warps no further block begins; 0 is no limit.
func check(ctx context.Context, k *Kernel, s Shape, enough int64, args []any) (*Report, error) {
	if err := k.valid("Check"); err != nil {
		return nil, err
	}
	l, tensors, err := k.bind(s, args)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name(), err)
	}
	text, entry, err := l.PTX()
	if k.foreign == nil {
		_, b := l.Shape()
		text, err = device.Write(k.program, device.Options{Threads: b[0] * b[1] * b[2]})
	}
	if err != nil {
		return nil, err
	}
	data := elementsOf(tensors)
	run := &simulation{launch: l, watch: &ptxsim.Watch{Enough: enough}}
	if k.foreign == nil {
		run.record = bytes.Repeat([]byte{255}, device.RecordBytes)
	}
	err = run.run(ctx, text, entry, data)
	report := &Report{Kernel: k.Name(), Lines: k.lines(run.watch), Output: run.output.String(), Work: Work(run.watch.Work())}
	if k.foreign == nil {
		if f := device.Fault(k.program, run.record); f != nil && ctx.Err() == nil { // recorded before what the simulator has found
			l.endsWith(ctx)
			err = l.first(f, data)
		}
	}
	var f *ptxsim.Fault
	if errors.As(err, &f) && f.Cause != nil {
		return nil, f.Cause
	}
	if errors.As(err, &f) {
		report.Fault = run.found(f)
		return report, report.Fault
	}
	if err = public(err); err == nil {
		return report, nil
	}
	if errors.As(err, &report.Fault) {
		return report, err
	}
	return nil, err
}

// lines returns what was counted, by line.
func (k *Kernel) lines(watch *ptxsim.Watch) []Line {
	all := map[compile.Line]*Line{}
	for s, c := range watch.Counts() {
		at := compile.Line{File: s.File, Line: s.Line}
		if all[at] == nil {
			all[at] = &Line{File: s.File, Line: s.Line, Text: strings.TrimSpace(k.text[at])}
		}
		l := all[at]
		l.Global, l.Sectors, l.IdealSectors = l.Global+c.Global, l.Sectors+c.Sectors, l.IdealSectors+c.IdealSectors
		l.Shared, l.Wavefronts, l.BankConflicts = l.Shared+c.Shared, l.Wavefronts+c.Wavefronts, l.BankConflicts+c.Wavefronts-c.IdealWavefronts
	}
	var list []Line
	for _, l := range slices.SortedFunc(maps.Values(all), func(a, b *Line) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	}) {
		list = append(list, *l)
	}
	return list
}

// verdict says whether the kernel is correct.
func (r *Report) verdict() string {
	if r.Fault != nil {
		return r.Fault.Error()
	}
	return fmt.Sprintf("kernel %s: no fault was found with these arguments", r.Kernel)
}

// Report returns the verdict and the table of the lines.
func (r *Report) Report() *display.Report {
	out := new(display.Report).Text(r.verdict())
	if r.Output != "" {
		out.Text(r.Output)
	}
	tableOf(out, r.Lines)
	return out
}

// tableOf adds a table of lines.
func tableOf(out *display.Report, lines []Line) {
	out.Table("line", "source", "global", "sectors", "ideal", "shared", "wavefronts", "bank conflicts")
	for _, l := range lines {
		out.Row(fmt.Sprintf("%s:%d", l.File, l.Line), l.Text, l.Global, l.Sectors, l.IdealSectors, l.Shared, l.Wavefronts, l.BankConflicts)
	}
}

// String returns the report as text.
func (r *Report) String() string { return r.Report().String() }
