package prof

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// SortBy is the column by which a table is sorted in descending order.
type SortBy string

// The columns. If the device is the CPU, the CPU and the CUDA columns are the same.
const (
	SelfCPU   SortBy = "Self CPU"
	CPUTotal  SortBy = "CPU total"
	SelfCUDA  SortBy = "Self CUDA"
	CUDATotal SortBy = "CUDA total"
	Calls     SortBy = "# of Calls"
	Memory    SortBy = "CPU Mem"
)

// Row summarizes everything with one name over all steps.
type Row struct {
	Name                string        // of the op, kernel or layer
	Self, Total         time.Duration // on the CPU
	SelfCUDA, TotalCUDA time.Duration // on another device
	Calls               int           // in all steps
	Bytes               int           // of results
	FLOPs               float64       // of ops
	Shapes              string        // of the operands, of the first call
}

// Table has rows with the columns of PyTorch's key_averages.
type Table struct {
	Rows    []Row         // in descending order of By
	By      SortBy        // the column by which rows are sorted
	total   time.Duration // of all steps
	cuda    bool
	omitted int
	layers  bool
}

// Rows returns the ops by layer and name, the host events, and the spans. The self time of a
// span excludes everything inside it. What the program does outside all spans is the row host,
// so the self times add up to the time of the steps.
func (r *Report) Rows() []Row {
	r.exists("Rows")
	all := newRows()
	for _, o := range r.Ops {
		r.addOp(all.call(o.title(), o.Shapes), o)
	}
	rest := r.program()
	for i, h := range r.Host {
		if h.Kind == UserSpan {
			row := all.call("span "+h.Name, "")
			own := max(0, h.End-h.Begin-r.inside(i))
			row.Total, row.Self = row.Total+h.End-h.Begin, row.Self+own
			rest -= own
			continue
		}
		row := all.call(string(h.Kind), "")
		row.Self, row.Total = row.Self+h.End-h.Begin, row.Total+h.End-h.Begin
		row.Bytes += h.Bytes
	}
	if rest > 0 {
		all.rows = append(all.rows, Row{Name: "host", Self: rest, Total: rest, Calls: len(r.Steps)})
	}
	return all.rows
}

// rowsByName has a row for each name, in the order of their first calls.
type rowsByName struct {
	rows []Row
	at   map[string]int
}

func newRows() *rowsByName { return &rowsByName{[]Row{}, map[string]int{}} }

// call returns the row of a name, and counts a call.
func (b *rowsByName) call(name, shapes string) *Row {
	k, ok := b.at[name]
	if !ok {
		k = len(b.rows)
		b.at[name] = k
		b.rows = append(b.rows, Row{Name: name, Shapes: shapes})
	}
	b.rows[k].Calls++
	return &b.rows[k]
}

// program returns the time of the host that is neither in a host event nor in an op on the CPU.
func (r *Report) program() time.Duration {
	rest := length(r.host)
	for _, h := range r.Host {
		if h.Kind != UserSpan {
			rest -= h.End - h.Begin
		}
	}
	if !r.asynchronous {
		for _, o := range r.Ops {
			rest -= o.End - o.Begin
		}
	}
	return rest
}

// addOp adds an op to a row.
func (r *Report) addOp(row *Row, o Op) {
	d := o.End - o.Begin
	row.Bytes, row.FLOPs = row.Bytes+o.ResultBytes, row.FLOPs+o.FLOPs
	if r.Device == "cpu" {
		row.Self, row.Total = row.Self+d, row.Total+d
		return
	}
	row.SelfCUDA, row.TotalCUDA = row.SelfCUDA+d, row.TotalCUDA+d
}

// inside returns the time of ops, host events and other spans within the span that is event i
// of the host. It excludes asynchronous work of a device.
func (r *Report) inside(i int) time.Duration {
	span := r.Host[i]
	var all []Interval
	add := func(begin, end time.Duration) {
		if begin >= span.Begin && end <= span.End { // else it encloses the span, or is outside of it
			all = append(all, Interval{begin, end})
		}
	}
	if !r.asynchronous {
		for _, o := range r.Ops {
			add(o.Begin, o.End)
		}
	}
	for k, h := range r.Host {
		if k != i {
			add(h.Begin, h.End)
		}
	}
	return length(mergeIntervals(all))
}

// title returns the name of an op in tables.
func (o Op) title() string {
	switch {
	case o.Layer == "" && o.Phase == Backward:
		return "backward: " + o.Name
	case o.Layer == "":
		return o.Name
	case o.Phase == Backward:
		return o.Layer + " backward: " + o.Name
	}
	return o.Layer + ": " + o.Name
}

// Table returns the rows sorted by a column. rows limits their number; 0 means no limit.
func (r *Report) Table(by SortBy, rows int) *Table {
	r.exists("Table")
	t := &Table{Rows: r.Rows(), By: by, total: r.total(), cuda: r.Device != "cpu"}
	t.truncate(rows)
	return t
}

// Layers returns the time of each layer, forward and backward together, and of the optimizer.
func (r *Report) Layers() *Table {
	r.exists("Layers")
	t := &Table{By: CPUTotal, total: r.total(), cuda: r.Device != "cpu", layers: true}
	all := newRows()
	for _, o := range r.Ops {
		r.addOp(all.call(cmp.Or(o.Layer, "no layer"), ""), o)
	}
	t.Rows = all.rows
	t.truncate(0)
	return t
}

// truncate sorts the rows and removes those beyond most.
func (t *Table) truncate(most int) {
	key := func(r Row) float64 {
		switch by := t.By; {
		case by == SelfCUDA && t.cuda:
			return r.SelfCUDA.Seconds()
		case by == CUDATotal && t.cuda:
			return r.TotalCUDA.Seconds()
		case by == CPUTotal || by == CUDATotal:
			return max(r.Total, r.TotalCUDA).Seconds()
		case by == Calls:
			return float64(r.Calls)
		case by == Memory:
			return float64(r.Bytes)
		}
		return r.Self.Seconds()
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int { return cmp.Compare(key(b), key(a)) })
	if most > 0 && len(t.Rows) > most {
		t.omitted = len(t.Rows) - most
		t.Rows = t.Rows[:most]
	}
}

// Report returns the table.
func (t *Table) Report() *display.Report {
	out := t.rows(new(display.Report))
	if t.omitted > 0 {
		out.Text(fmt.Sprintf("%d more rows", t.omitted))
	}
	return out
}

// rows adds the table to a report.
func (t *Table) rows(out *display.Report) *display.Report {
	columns := []string{"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"}
	if t.cuda {
		columns = append(columns, "Self CUDA %", "Self CUDA", "CUDA total", "CUDA time avg")
	}
	columns = append(columns, "CPU Mem", "# of Calls", "GFLOP/s")
	if !t.layers {
		columns = append(columns, "Input Shapes")
	}
	percent := func(d time.Duration) string {
		return fmt.Sprintf("%.1f %%", 100*d.Seconds()/max(t.total.Seconds(), 1e-12))
	}
	out.Table(columns...)
	for _, r := range t.Rows {
		calls := time.Duration(max(r.Calls, 1))
		row := []any{r.Name, percent(r.Self), duration(r.Self), percent(r.Total), duration(r.Total), duration(r.Total / calls)}
		if t.cuda {
			row = append(row, percent(r.SelfCUDA), duration(r.SelfCUDA), duration(r.TotalCUDA), duration(r.TotalCUDA/calls))
		}
		speed := ""
		if spent := max(r.Self, r.SelfCUDA); r.FLOPs > 0 && spent > 0 {
			speed = quantity.Rate(r.FLOPs / spent.Seconds() / 1e9)
		}
		out.Row(append(row, quantity.Bytes(r.Bytes), r.Calls, speed, r.Shapes)...)
	}
	return out
}

// String returns the table as text.
func (t *Table) String() string { return t.Report().String() }
