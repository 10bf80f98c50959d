package data

import (
	"fmt"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// BenchReport is the result of [Bench]. Notebooks display it as a table.
type BenchReport struct {
	Dataset string     // as text
	Batch   int        // examples in a batch
	Workers int        // the number compared with one worker
	Device  string     // to which batches are copied
	Rows    []BenchRow // in the order of the table
	Limit   string     // a sentence that says what limits the speed
}

// BenchStage is what a row of a [BenchReport] measures.
type BenchStage string

// What is measured.
const (
	BenchCold     BenchStage = "batches, files not in memory"
	BenchWarm     BenchStage = "batches, files in memory" // also of examples in memory
	BenchPlain    BenchStage = "batches, files in memory, without transforms"
	BenchPinned   BenchStage = "copy to the device, from pinned memory"
	BenchPageable BenchStage = "copy to the device, from pageable memory"
)

// BenchRow is one measurement. All values but What, Workers and Reason are 0 if there was none.
type BenchRow struct {
	What     BenchStage    // that is measured
	Workers  int           // goroutines that make batches; 0 for a copy
	Batches  int           // number of batches measured
	Seconds  time.Duration // of one batch: the mean
	Examples float64       // per second
	Bytes    float64       // of the tensors of batches, per second
	Reason   string        // why it was not measured; "" if it was
}

// set computes the means of the batches.
func (r *BenchRow) set(elapsed time.Duration, examples, bytes int) {
	seconds := max(elapsed, 1).Seconds() // a clock may be coarse
	r.Seconds = max(elapsed, 1) / time.Duration(r.Batches)
	r.Examples, r.Bytes = float64(examples)/seconds, float64(bytes)/seconds
}

// Row returns what was measured of a stage with the highest number of workers; ok is false if nothing
// was.
func (r *BenchReport) Row(what BenchStage) (row BenchRow, ok bool) {
	for _, candidate := range r.Rows {
		if candidate.What == what && candidate.Reason == "" {
			row, ok = candidate, true
		}
	}
	return row, ok
}

// limit returns the sentence: the largest part of the time of a batch.
func (r *BenchReport) limit(inMemory bool) string {
	warm, _ := r.Row(BenchWarm)
	whole, part, what := warm.Seconds, warm.Seconds, "decoding examples"
	if inMemory {
		what = "gathering examples"
	}
	if plain, ok := r.Row(BenchPlain); ok {
		part = min(plain.Seconds, warm.Seconds)
		if transforms := warm.Seconds - part; transforms > part {
			part, what = transforms, "the transforms"
		}
	}
	if cold, ok := r.Row(BenchCold); ok {
		whole = max(cold.Seconds, warm.Seconds)
		if reading := whole - warm.Seconds; reading > part {
			part, what = reading, "reading the files"
		}
	}
	if copied, ok := r.Row(BenchPinned); ok {
		whole += copied.Seconds
		if copied.Seconds > part {
			part, what = copied.Seconds, "copying to the device"
		}
	}
	return fmt.Sprintf("What limits is the time of %s: %s of the %s of a batch, with %s. A training step that takes longer than %s does not wait for data.",
		what, quantity.Seconds(part.Seconds()), quantity.Seconds(whole.Seconds()), quantity.Plural(warm.Workers, "worker"), quantity.Seconds(whole.Seconds()))
}

// Report returns the sentence that says what limits the speed, and the table.
func (r *BenchReport) Report() *display.Report {
	out := new(display.Report).Text(fmt.Sprintf("%s; batches of %d. %s", r.Dataset, r.Batch, r.Limit))
	out.Table("", "workers", "time per batch", "examples/s", "MB/s")
	for _, row := range r.Rows {
		with := ""
		if row.Workers > 0 {
			with = fmt.Sprint(row.Workers)
		}
		if row.Reason != "" {
			out.Row(string(row.What), with, "not measured: "+row.Reason)
			continue
		}
		out.Row(string(row.What), with, quantity.Seconds(row.Seconds.Seconds()), fmt.Sprintf("%.3g", row.Examples), fmt.Sprintf("%.3g", row.Bytes/1e6))
	}
	return out
}

// String returns the report as text.
func (r *BenchReport) String() string { return r.Report().String() }
