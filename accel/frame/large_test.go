package frame_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

// longest is much more than a reader that is linear in its input needs for the files of TestLargeFiles, and less than one
// that is quadratic does.
const longest = 2 * time.Minute

// columnsOf returns lines of n fields, which field returns by line and column.
func columnsOf(n, lines int, separator, end string, field func(line, column int) string) string {
	var b strings.Builder
	for l := range lines {
		for c := range n {
			if c > 0 {
				b.WriteString(separator)
			}
			b.WriteString(field(l, c))
		}
		b.WriteString(end)
	}
	return b.String()
}

// TestLargeFiles reads files with many columns, or with a quotation mark that is not closed.
func TestLargeFiles(t *testing.T) {
	const columns = 300_000
	number := func(line, column int) string {
		if line == 0 {
			return "c" + strconv.Itoa(column)
		}
		return strconv.Itoa(line + column)
	}
	names := make([]string, columns)
	for c := range names {
		names[c] = number(0, c)
	}
	csv := func(text string, options ...frame.Option) func() (*frame.Frame, error) {
		return func() (*frame.Frame, error) { return frame.ReadCSV(strings.NewReader(text), options...) }
	}
	open := strings.Repeat("x,y\n", 2<<20)
	for _, tt := range []struct {
		name string
		read func() (*frame.Frame, error)
		want string // an error
	}{
		{name: "columns", read: csv(columnsOf(columns, 3, ",", "\n", number))},
		{name: "columns of TSV with CRLF", read: csv(columnsOf(columns, 3, "\t", "\r\n", number))},
		{name: "columns in quotes", read: csv(columnsOf(columns, 3, ",", "\n", func(l, c int) string { return `"` + number(l, c) + `"` }))},
		{name: "columns without names", read: csv(columnsOf(columns, 3, ",", "\n", number), frame.NoHeader())},
		{name: "columns by name", read: csv(columnsOf(columns, 3, ",", "\n", number), frame.Only(names...), frame.As(frame.Float, names...))},
		{name: "columns of which each has numbers and text", read: csv(columnsOf(columns, 3, ",", "\n", func(l, c int) string {
			if l == 2 {
				return "x"
			}
			return number(l, c)
		}))},
		{name: "columns of JSON lines", read: func() (*frame.Frame, error) {
			line := "{" + columnsOf(columns, 1, ",", "}\n", func(_, c int) string { return fmt.Sprintf(`"c%d":%d`, c, c) })
			return frame.ReadJSONLines(strings.NewReader(line + line))
		}},
		{name: "columns, dropped", read: func() (*frame.Frame, error) {
			f, err := frame.ReadCSV(strings.NewReader(columnsOf(columns, 2, ",", "\n", number)))
			return f.Drop(names[1:]...), err
		}},
		{name: "a quotation mark at the start", read: csv("a,b\n\"" + open), want: "line 2: want a quotation mark at the end of the field"},
		{name: "a quotation mark in the middle", read: csv("a,b\n" + open + "1,\"" + open), want: fmt.Sprintf("line %d: want a quotation mark at the end of the field", 2<<20+2)},
		{name: "a quotation mark at the end", read: csv("a,b\n" + open + "1,\""), want: fmt.Sprintf("line %d: want a quotation mark at the end of the field", 2<<20+2)},
		{name: "a quotation mark in the header", read: csv("a,\"b\n" + open), want: "line 1: want a quotation mark at the end of the field"},
		{name: "a quotation mark and CRLF", read: csv("a,b\r\n\"" + strings.ReplaceAll(open[:4<<20], "\n", "\r\n")), want: "line 2: want a quotation mark at the end of the field"},
		{name: "a quotation mark and CR", read: csv("a,b\r\"" + strings.ReplaceAll(open[:4<<20], "\n", "\r")), want: "line 2: want a quotation mark at the end of the field"},
		{name: "a quotation mark too many before fields in quotes", read: csv("a,b\n1,\"\"\"\n" + strings.Repeat("\"x\",\"y\"\n", 1<<20)), want: "line 2: want a separator after the field in quotation marks"},
		{name: "an object in JSON lines that is not closed", read: func() (*frame.Frame, error) {
			return frame.ReadJSONLines(strings.NewReader(strings.Repeat(`{"a":`, 8<<20)))
		}, want: "want at most 100 objects within each other"},
		{name: "a text in JSON lines that is not closed", read: func() (*frame.Frame, error) {
			return frame.ReadJSONLines(strings.NewReader(`{"a":"` + open[:4<<20]))
		}, want: "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := make(chan struct{})
			var f *frame.Frame
			var err error
			go func() {
				defer close(done)
				f, err = tt.read()
			}()
			select {
			case <-done:
			case <-time.After(longest):
				t.Fatalf("not read within %v", longest)
			}
			switch {
			case tt.want == "" && (err != nil || len(f.Columns()) != columns && len(f.Columns()) != 1):
				t.Errorf("got %d columns, %v", len(f.Columns()), err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 1000):
				t.Errorf("got %.1000v, want %s", err, tt.want)
			}
		})
	}
}

// TestWideChunks reads lines that are longer than the chunks of a file of short lines: what a column of a chunk takes
// beside its values must not be a multiple of these.
func TestWideChunks(t *testing.T) {
	text := columnsOf(100_000, 40, ",", "\n", func(l, c int) string { return strconv.Itoa(l * c % 10) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := frame.ReadCSV(strings.NewReader(text), frame.NoHeader())
	runtime.ReadMemStats(&after)
	if err != nil || f.Len() != 40 {
		t.Fatal(f, err)
	}
	for c, name := range f.Columns() {
		for l, v := range f.Column(name).Ints() {
			if v != l*c%10 {
				t.Fatalf("row %d of column %d is %d", l, c, v)
			}
		}
	}
	values := uint64(8 * 100_000 * 40)
	if got := after.TotalAlloc - before.TotalAlloc; got > 14*values {
		t.Errorf("allocates %d bytes for values of %d", got, values)
	}
}
