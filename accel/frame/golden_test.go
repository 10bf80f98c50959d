package frame_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

// pandasResults is what pandas computes; see testdata/make_golden.py.
type pandasResults struct {
	Group, Two, Sort, Inner, Left goldenFrame
	Describe                      map[string]map[string]float64
	Top                           struct {
		Top                 string
		Frequency, Distinct int
	}
}

type goldenFrame struct {
	Columns []string
	Rows    [][]any
}

func load(t *testing.T) (people, cities *frame.Frame, want pandasResults) {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err == nil {
		people, err = frame.CSV("testdata/people.csv")
	}
	if err == nil {
		cities, err = frame.CSV("testdata/cities.csv")
	}
	if err != nil {
		t.Fatal(err)
	}
	return people, cities, want
}

func TestAsPandas(t *testing.T) {
	t.Parallel()
	people, cities, want := load(t)
	for _, test := range []struct {
		name string
		got  *frame.Frame
		want goldenFrame
	}{
		{"group", people.GroupBy("city").Aggregate(frame.Count(), frame.CountPresent("age"), frame.Mean("age"), frame.Std("age"),
			frame.Median("age"), frame.Quantile("age", 0.1), frame.Min("age"), frame.Max("age"), frame.Sum("visits"), frame.Sum("income"),
			frame.First("name"), frame.Max("born"), frame.CountDistinct("visits"), frame.Mean("active")), want.Group},
		{"group by two columns", people.GroupBy("city", "active").Aggregate(frame.Count(), frame.Mean("income")), want.Two},
		{"sort", people.Sort(frame.Ascending("city"), frame.Descending("age")).Select("city", "age", "name"), want.Sort},
		{"inner join", people.Join(frame.Inner, cities, "city").Select("name", "city", "country"), want.Inner},
		{"left join", people.Join(frame.Left, cities, "city").Select("name", "city", "country"), want.Left},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got, want := fmt.Sprint(test.got.Columns()), fmt.Sprint(test.want.Columns); got != want {
				t.Fatalf("got columns %s, want %s", got, want)
			}
			if test.got.Len() != len(test.want.Rows) {
				t.Fatalf("got %d rows, want %d", test.got.Len(), len(test.want.Rows))
			}
			for r, row := range test.want.Rows {
				for k, name := range test.got.Columns() {
					if c := test.got.Column(name); !equal(c, r, row[k]) {
						t.Errorf("row %d, %s: got %q, want %v", r, name, c.Format(r), row[k])
					}
				}
			}
		})
	}
}

// equal reports whether value i is what pandas has, for floats except for rounding.
func equal(c frame.Column, i int, want any) bool {
	switch want := want.(type) {
	case nil:
		return c.Missing(i)
	case float64:
		return !c.Missing(i) && math.Abs(c.Floats()[i]-want) <= 1e-13*math.Abs(want)
	}
	return c.Format(i) == fmt.Sprint(want)
}

func TestDescribeAsPandas(t *testing.T) {
	t.Parallel()
	people, _, want := load(t)
	got := people.Describe()
	for r := range got.Rows() {
		for name, v := range want.Describe[r.Text("column")] {
			if g := r.Float(name); math.Abs(g-v) > 1e-13*math.Abs(v) {
				t.Errorf("%s of %s: got %v, want %v", name, r.Text("column"), g, v)
			}
		}
		if r.Text("column") == "city" && (r.Text("top") != want.Top.Top || r.Int("frequency") != want.Top.Frequency || r.Int("distinct") != want.Top.Distinct) {
			t.Errorf("got %s, %d of %d, want %v", r.Text("top"), r.Int("frequency"), r.Int("distinct"), want.Top)
		}
	}
	if n := people.CountValues("city"); n.Len() != want.Top.Distinct+1 || n.Column("count").Ints()[0] < n.Column("count").Ints()[1] {
		t.Errorf("got %s", contents(n))
	}
}

func TestOuterJoin(t *testing.T) {
	t.Parallel()
	a := frame.New(frame.Ints("k", 1, 2, 2), frame.Texts("a", "x", "y", "z"))
	b := frame.New(frame.Floats("k", 2, 3, math.NaN()), frame.Bools("b", true, false, true))
	for _, test := range []struct {
		kind frame.JoinKind
		want string
	}{
		{frame.Inner, "k float: 2 2; a text: y z; b bool: true true"},
		{frame.Left, "k float: 1 2 2; a text: x y z; b bool: - true true"},
		{frame.Outer, "k float: 1 2 2 3 -; a text: x y z - -; b bool: - true true false true"},
	} {
		if got := contents(a.Join(test.kind, b, "k")); got != test.want {
			t.Errorf("%d: got  %s\nwant %s", test.kind, got, test.want)
		}
	}
}

func TestFrame(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	f := frame.New(frame.Ints("n", 3, 1, 2), frame.Floats("x", math.NaN(), 0.5, 2), frame.Texts("s", "c", "a", ""), frame.Bools("b", true, false, true),
		frame.Times("t", day, time.Time{}, day.Add(time.Hour)))
	for _, test := range []struct {
		name string
		got  *frame.Frame
		want string
	}{
		{"select", f.Select("s", "n"), "s text: c a ; n int: 3 1 2"},
		{"drop", f.Drop("n", "b", "t", "x"), "s text: c a "},
		{"rename", f.Select("n").Rename("n", "m"), "m int: 3 1 2"},
		{"with", f.Select("n", "s").With(frame.Texts("n", "x", "y", "z"), frame.Ints("k", 7, 8, 9)), "n text: x y z; s text: c a ; k int: 7 8 9"},
		{"slices", f.Select("n").Slice(1, 3).Append(f.Select("n").Head(1), f.Select("n").Tail(1)), "n int: 1 2 3 2"},
		{"take", f.Select("n", "t").Take(1, 1, 0), "n int: 1 1 3; t time: - - 2024-02-29"},
		{"append ints to floats", f.Select("x").Append(f.Select("n").Rename("n", "x")), "x float: - 0.5 2 3 1 2"},
		{"filter", f.Select("n", "b").Filter(func(r frame.Row) bool { return r.Bool("b") && r.Int("n") > 2 }), "n int: 3; b bool: true"},
		{"compute", f.Select("n").WithFloat("half", func(r frame.Row) float64 { return r.Float("n") / 2 }).WithText("at", func(r frame.Row) string { return r.Text("n") + "!" }),
			"n int: 3 1 2; half float: 1.5 0.5 1; at text: 3! 1! 2!"},
		{"drop missing", f.DropMissing(), "n int: 2; x float: 2; s text: ; b bool: true; t time: 2024-02-29T01:00:00Z"},
		{"drop missing of a column", f.DropMissing("x").Select("n"), "n int: 1 2"},
		{"fill", f.FillMissing("x", 9).FillMissing("t", day).Select("x", "t"), "x float: 9 0.5 2; t time: 2024-02-29 2024-02-29 2024-02-29T01:00:00Z"},
		{"sort", f.Sort(frame.Descending("x")).Select("x", "n"), "x float: 2 0.5 -; n int: 2 1 3"},
		{"aggregate", f.Aggregate(frame.Count(), frame.Sum("b").As("true"), frame.Min("s"), frame.Reduce("range", "n", func(v []float64) float64 { return v[0] - v[1] })),
			"count int: 3; true int: 2; s_min text: ; n_range float: 2"},
		{"nothing", f.Filter(func(frame.Row) bool { return false }).Aggregate(frame.Count(), frame.Mean("n"), frame.Sum("x"), frame.Max("s")), "count int: 0; n_mean float: -; x_sum float: 0; s_max text: -"},
	} {
		if got := contents(test.got); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
	train, test := f.RandomSplit(2.0/3, 1)
	if train.Len() != 2 || test.Len() != 1 || contents(train.Append(test).Sort(frame.Ascending("n"))) != contents(f.Sort(frame.Ascending("n"))) {
		t.Errorf("split into\n%s\n%s", train, test)
	}
	if frames := f.GroupBy("b").Frames(); len(frames) != 2 || frames[1].Len() != 2 {
		t.Errorf("got the groups %v", frames)
	}
}

// TestPanics calls methods with invalid arguments, which panic with errors.
func TestPanics(t *testing.T) {
	t.Parallel()
	f := frame.New(frame.Ints("age", 3, 1), frame.Texts("name", "a", "b"), frame.Times("born", time.Time{}, time.Unix(1, 0)))
	for _, test := range []struct {
		call func()
		want string
	}{
		{func() { f.Column("Age") }, `frame: no column is named "Age"; did you mean "age"?`},
		{func() { f.Select("xxxxxxxx") }, `frame: no column is named "xxxxxxxx": it has ["age" "name" "born"]`},
		{func() { f.Rename("age", "name") }, `frame: two columns are named "name": rename one of them`},
		{func() { f.With(frame.Ints("k", 1)) }, `frame: column "k" has 1 values, but the frame has 2 rows`},
		{func() { f.Column("name").Floats() }, `frame: column "name" is of type text, but a column of numbers or bools is needed`},
		{func() { f.Aggregate(frame.Mean("name")) }, `frame: column "name" is of type text, but a column of numbers or bools is needed`},
		{func() { f.Filter(func(r frame.Row) bool { return r.Time("born").IsZero() }) }, `frame: column "born" has no value in row 0: look at Missing first, or use DropMissing or FillMissing`},
		{func() { f.FillMissing("born", "x") }, `frame: column "born" is of type time, but one that can contain x, of type string, is needed`},
		{func() { f.Take(2) }, `frame: row 2 of a frame with 2 rows`},
		{func() { f.Slice(1, 0) }, `frame: rows 1 to 0 of a frame with 2 rows`},
		{func() { f.Join(frame.Inner, f, "age") }, `frame: two columns are named "name": rename one of them`},
		{func() { f.Append(f.Drop("born")) }, `frame: no column is named "born": it has ["age" "name"]`},
		{func() { f.RandomSplit(1.5, 1) }, `frame: RandomSplit with the fraction 1.5: use one between 0 and 1`},
		{func() {
			frame.New(frame.Ints("n", math.MaxInt, 1)).Aggregate(frame.Sum("n"))
		}, `frame: column "n": the sum is beyond the range of int: sum a column of floats`},
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || err.Error() != test.want {
					t.Errorf("got  %v\nwant %s", err, test.want)
				}
			}()
			test.call()
		}()
	}
}

// TestNilFrame calls each method of a nil frame with arguments that are empty.
func TestNilFrame(t *testing.T) {
	const want = "frame: the frame is nil: check the error returned where it was created"
	v := reflect.ValueOf((*frame.Frame)(nil))
	for i := range v.NumMethod() {
		name, f := v.Type().Method(i).Name, v.Method(i)
		t.Run(name, func(t *testing.T) {
			var in []reflect.Value
			for k := range f.Type().NumIn() {
				if k < f.Type().NumIn()-1 || !f.Type().IsVariadic() {
					in = append(in, reflect.Zero(f.Type().In(k)))
				}
			}
			defer func() {
				if p := recover(); fmt.Sprint(p) != want {
					t.Errorf("panicked with %v", p)
				}
			}()
			out := f.Call(in)
			if rows, ok := out[0].Interface().(iter.Seq[frame.Row]); ok {
				rows(func(frame.Row) bool { return true })
			} else if err, ok := out[0].Interface().(error); ok && err != nil { // that of the empty path of a file
				panic(want)
			}
			t.Error("it returned")
		})
	}
}

// TestNamesOfQuantiles requires names in percent without the rounding of 100·q: 100·0.55 is 55.00000000000001.
func TestNamesOfQuantiles(t *testing.T) {
	f := frame.New(frame.Floats("x", 1, 2))
	for percent := range 101 {
		q := float64(percent) / 100
		if got, want := f.Aggregate(frame.Quantile("x", q)).Columns()[0], fmt.Sprintf("x_q%d", percent); got != want {
			t.Errorf("the quantile %v is named %s, want %s", q, got, want)
		}
	}
	if got := f.Aggregate(frame.Quantile("x", 0.999)).Columns()[0]; got != "x_q99.9" {
		t.Errorf("the quantile 0.999 is named %s", got)
	}
}
