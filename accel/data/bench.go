package data

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Limits of one measurement of [Bench].
const (
	benchTime     = time.Second // after which no more batches are begun
	benchExamples = 4096        // and after which number of examples
	benchCopies   = 20          // copies to the device
)

// Bench measures how fast a data set delivers batches of a size: what a training step has to take, so
// that it does not wait for data, and what limits the speed. The options are those of the batches of
// the training, such as [Shuffle]; [Workers] sets the number of workers that is compared with one
// worker, by default that of the CPU's cores (GOMAXPROCS), at least 2.
//
//	report, err := data.Bench(ctx, train, 128, data.Shuffle(1))
//
// It measures, for up to a second each:
//
//   - batches after the files behind the data set have left the system's page cache, as in the first
//     epoch, and batches with the files in memory, as in later ones; with one worker and with several,
//   - if there are transforms, the batches with the files in memory, without the transforms,
//   - the copy of a batch to the device, from pinned and from pageable memory of the host.
//
// What cannot be measured has a reason instead of a time. Other systems than Linux cannot drop files
// from the page cache without privileges, and nothing is dropped for data sets in memory. Times
// are wall-clock times of this process, so other load on the machine makes them longer.
//
// An error is that of ctx, of the options, or of an example that cannot be read.
func Bench(ctx context.Context, set *Dataset, size int, options ...Option) (*BenchReport, error) {
	if err := interrupt.RequireContext(ctx, "data: Bench"); err != nil {
		return nil, err
	}
	if set == nil {
		return nil, errors.New("data: Bench: the data set is nil: check the error returned where it was created")
	}
	several := loader{workers: max(2, runtime.GOMAXPROCS(0))}
	if err := option.Apply("data.Bench", &several, options, batchOptions...); err != nil {
		return nil, err
	}
	m := &bencher{ctx: ctx, set: set, size: size, options: options}
	switch it := m.iteration(1, set); {
	case it.Err() != nil:
		return nil, it.Err()
	case it.taken == it.count:
		return nil, fmt.Errorf("data: Bench: %s has no batch: it is empty, or the option Skip leaves out all", set.name)
	}
	r := &BenchReport{Dataset: set.String(), Batch: min(size, set.Len()), Device: tensors.Device(), Workers: max(several.workers, 1)}
	meter, inner := display.Measure(ctx, "measuring "+set.name, 5)
	defer meter.End()
	m.ctx = inner
	for i, workers := range []int{1, r.Workers} {
		if i == 1 && workers == 1 {
			break
		}
		cold, warm, err := m.epochs(workers)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, cold, warm)
		meter.Set(float64(2*i+2), "")
	}
	if len(set.transforms) > 0 {
		plain, err := m.withoutTransforms(r.Workers)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, plain)
	}
	r.Rows = append(r.Rows, m.copies()...)
	r.Limit = r.limit(set.InMemory() || set.resident != nil)
	meter.Set(5, "")
	return r, nil
}

// bencher measures batches of a data set.
type bencher struct {
	ctx     context.Context
	set     *Dataset
	size    int
	options []Option
	batch   int // bytes of the largest batch so far
	most    int // number of batches of the last cold or first pass
}

// iteration begins a pass over the data set, or over it with other transforms.
func (m *bencher) iteration(workers int, set *Dataset) *Batches {
	return set.Batches(m.size, append(m.options[:len(m.options):len(m.options)], Workers(workers), Context(m.ctx))...)
}

// epochs measures the first batches with files that are not in memory, and again with those in memory.
func (m *bencher) epochs(workers int) (cold, warm BenchRow, err error) {
	cold = BenchRow{What: BenchCold, Workers: workers}
	it := m.iteration(workers, m.set)
	m.most = max(2, benchExamples/it.size)
	cold.Reason = m.dropFiles(it)
	first, err := m.pass(it)
	if err != nil {
		return cold, warm, err
	}
	if cold.Reason == "" {
		first.What, first.Workers = cold.What, cold.Workers
		cold = first
	}
	warm, err = m.pass(m.iteration(workers, m.set)) // the same batches
	warm.What, warm.Workers = BenchWarm, workers
	return cold, warm, err
}

// withoutTransforms measures the batches that have just been made.
func (m *bencher) withoutTransforms(workers int) (BenchRow, error) {
	plain := *m.set
	plain.transforms = nil
	row, err := m.pass(m.iteration(workers, &plain))
	row.What, row.Workers = BenchPlain, workers
	return row, err
}

// pass takes up to m.most batches, and sets it to their number. The first batch is not part of the
// time if there are others, since the workers begin with it.
func (m *bencher) pass(it *Batches) (row BenchRow, err error) {
	it.count = min(it.count, it.taken+m.most) // the workers stop there
	begin, batches, examples, bytes := time.Now(), 0, 0, 0
	var elapsed time.Duration
	for it.Next() {
		b := it.Batch()
		n := 0
		for _, t := range []*tensor.Tensor{b.X, b.Y} {
			if t != nil {
				n += 4 * t.Numel() // float32 and int32
			}
		}
		if m.set.resident != nil {
			tensor.Synchronize() // batches are gathered on the device
		}
		for _, t := range []*tensor.Tensor{b.X, b.Y} {
			if t != nil {
				t.Release()
			}
		}
		m.batch = max(m.batch, n)
		elapsed = time.Since(begin)
		if batches, examples, bytes = batches+1, examples+b.Len(), bytes+n; batches == 1 && it.taken < it.count {
			begin, examples, bytes = time.Now(), 0, 0
		}
		if elapsed >= benchTime && batches > 1 {
			it.count = it.issued // take the batches that are being made
		}
	}
	if it.Err() != nil {
		return row, it.Err()
	}
	m.most = batches
	row.Batches = max(batches-1, 1)
	row.set(elapsed, examples, bytes)
	return row, nil
}

// copies measures copies of a batch to the device.
func (m *bencher) copies() []BenchRow {
	rows := []BenchRow{{What: BenchPinned, Batches: benchCopies}, {What: BenchPageable, Batches: benchCopies}}
	if m.set.resident != nil {
		for i := range rows {
			rows[i].Batches, rows[i].Reason = 0, "the examples are on the device"
		}
		return rows
	}
	pinned, pageable, err := tensors.HostCopies(m.batch, benchCopies)
	for i, took := range []time.Duration{pinned, pageable} {
		if err != nil {
			rows[i].Batches, rows[i].Reason = 0, err.Error()
			continue
		}
		rows[i].set(benchCopies*took, benchCopies*min(m.size, m.set.Len()), benchCopies*m.batch)
	}
	return rows
}

// dropFiles drops the files of the next m.most batches from the page cache. It returns why that is not
// possible, "" if it is.
func (m *bencher) dropFiles(it *Batches) (reason string) {
	if m.set.resident != nil {
		return "the examples are on the device"
	}
	var examples []int
	for k := it.taken; k < min(it.count, it.taken+m.most); k++ {
		examples = append(examples, it.examples(k)...)
	}
	files, reason := m.set.files(examples)
	for _, path := range files {
		if reason != "" {
			break
		}
		reason = dropFromPageCache(path)
	}
	return reason
}

// files returns the files that are read for some examples, or why they are not known.
func (s *Dataset) files(examples []int) (files []string, reason string) {
	var parts []Dataset // of which the data set consists,
	var of [][]int      // and the examples of each
	switch source := s.source.(type) {
	case *cached:
		return nil, "Cached keeps examples in memory: measure the data set before Cached"
	case interface{ wrapped() *Dataset }:
		inner := source.wrapped()
		from := s.inSource(examples)
		return inner.files(slices.DeleteFunc(from, func(i int) bool { return i >= inner.Len() })) // of Append
	case *joined:
		parts, of = source.parts, slices.Repeat([][]int{s.inSource(examples)}, len(source.parts))
	case *chained:
		parts, of = source.parts, make([][]int, len(source.parts))
		for _, i := range s.inSource(examples) {
			k, at := source.part(i)
			of[k] = append(of[k], at)
		}
	case *mapped:
		return []string{source.name}, ""
	}
	for k := range parts {
		if part := &parts[k]; len(of[k]) > 0 && !part.InMemory() {
			more, reason := part.files(of[k])
			if reason != "" {
				return nil, reason
			}
			files = append(files, more...)
		}
	}
	if len(files) > 0 {
		return files, ""
	}
	seen := map[string]bool{}
	for _, i := range examples {
		if path := s.Path(i); !s.InMemory() && path != "" && !seen[path] {
			files, seen[path] = append(files, path), true
		}
	}
	switch {
	case len(files) > 0:
		return files, ""
	case s.InMemory():
		return nil, "the examples are in memory"
	}
	return nil, "the files of the examples are not known: a Source names them with a method Path(i int) string"
}

// inSource maps examples to those of the source.
func (s *Dataset) inSource(examples []int) []int {
	mapped := make([]int, len(examples))
	for k, i := range examples {
		mapped[k] = s.at(i)
	}
	return mapped
}

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
		out.Row(string(row.What), with, quantity.Seconds(row.Seconds.Seconds()), quantity.Rate(row.Examples), quantity.Rate(row.Bytes/1e6))
	}
	return out
}

// String returns the report as text.
func (r *BenchReport) String() string { return r.Report().String() }
