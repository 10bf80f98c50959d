package frame_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/frame"
)

// TestCSV reads small files: the columns as "name type: values", with "-" for missing ones.
func TestCSV(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file string
		options    []frame.Option
		want       string
	}{
		{"types", "a,b,c,d,e\n1,1.5,true,x,2024-02-29\n-2,1e3,False,,2024-02-29 13:14:15\n", nil,
			"a int: 1 -2; b float: 1.5 1000; c bool: true false; d text: x -; e time: 2024-02-29 2024-02-29T13:14:15Z"},
		{"missing", "a,b\n,NA\n1,null\n", nil, "a int: - 1; b float: - -"},
		{"missing words", "a,b\n?,-999\n1,2\n", []frame.Option{frame.Missing("?", "-999")}, "a int: - 1; b int: - 2"},
		{"quoted words are no missing values", "country,n\n\"NA\",1\nNA,2\n", nil, "country text: NA -; n int: 1 2"},
		{"quotes", "a,b\n\"x, \"\"y\"\"\",\"line\nbreak\"\n", nil, "a text: x, \"y\"; b text: line\nbreak"},
		{"quoted numbers", "\"a\",\"b\"\n\"1\",\"2.5\"\n\"\",\"3\"\n", nil, "a int: 1 -; b float: 2.5 3"},
		{"space", "a , b\n 1 , x y \n", nil, "a int: 1; b text: x y"},
		{"CRLF and empty lines", "\r\na,b\r\n1,2\r\n\r\n3,4\r\n", nil, "a int: 1 3; b int: 2 4"},
		{"CR alone", "a,b\r1,2\r", nil, "a int: 1; b int: 2"},
		{"byte order mark", "\ufeffa,b\n1,2", nil, "a int: 1; b int: 2"},
		{"semicolons", "a;b\n1;2\n", nil, "a int: 1; b int: 2"},
		{"tabs", "a\tb\n1\t\n", nil, "a int: 1; b float: -"},
		{"separator", "a:b,c\n1:2\n", []frame.Option{frame.Separator(':')}, "a int: 1; b,c int: 2"},
		{"decimal comma", "a;b\n1,5;2\n-3,25;1e3\n", []frame.Option{frame.DecimalComma()}, "a float: 1.5 -3.25; b float: 2 1000"},
		{"ints become floats", "a\n1\n2\n2.5\n", nil, "a float: 1 2 2.5"},
		{"mixed", "a\n1\ntrue\n2024-01-01\n", nil, "a text: 1 true 2024-01-01"},
		{"postal codes", "a\n01234\n10115\n", nil, "a text: 01234 10115"},
		{"all others as floats", "a,b,c\n01234,+1,x\n0x1p4,inf,\n", []frame.Option{frame.As(frame.Text, "c"), frame.As(frame.Float)}, "a float: 1234 16; b float: 1 +Inf; c text: x -"},
		{"postal codes as ints", "a\n01234\n10115\n", []frame.Option{frame.As(frame.Int, "a")}, "a int: 1234 10115"},
		{"telephone numbers", "a\n+4930123\n", nil, "a text: +4930123"},
		{"beyond int", "a\n9223372036854775807\n9223372036854775808\n", nil, "a text: 9223372036854775807 9223372036854775808"},
		{"largest int", "a\n9223372036854775807\n-9223372036854775808\n", nil, "a int: 9223372036854775807 -9223372036854775808"},
		{"infinities", "a\ninf\n-Infinity\n1\n", nil, "a float: +Inf -Inf 1"},
		{"negative zero", "a\n-0\n0.5\n", nil, "a float: -0 0.5"},
		{"no dates", "a\n2023-02-29\n", nil, "a text: 2023-02-29"},
		{"layout", "a\n31.12.2024\n", []frame.Option{frame.Layout("02.01.2006", "a")}, "a time: 2024-12-31"},
		{"times with zones", "a\n2024-06-01T10:00:00.5+02:00\n", nil, "a time: 2024-06-01T10:00:00.5+02:00"},
		{"no header", "1,x\n2,y\n", []frame.Option{frame.NoHeader()}, "column 1 int: 1 2; column 2 text: x y"},
		{"no header, with names", "1,x\n", []frame.Option{frame.NoHeader("n", "s")}, "n int: 1; s text: x"},
		{"only", "a,b,c\n1,2,3\n", []frame.Option{frame.Only("c", "a")}, "c int: 3; a int: 1"},
		{"header only", "a,b\n", nil, "a float:; b float:"},
		{"a column without a name", ",b\n1,2\n", nil, "column 1 int: 1; b int: 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, err := frame.ReadCSV(strings.NewReader(test.file), test.options...)
			if err != nil {
				t.Fatal(err)
			}
			if got := contents(f); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// contents writes a frame in the form of TestCSV.
func contents(f *frame.Frame) string {
	var columns []string
	for _, name := range f.Columns() {
		c := f.Column(name)
		text := name + " " + c.Type().String() + ":"
		for i := range c.Len() {
			if c.Missing(i) {
				text += " -"
			} else {
				text += " " + c.Format(i)
			}
		}
		columns = append(columns, text)
	}
	return strings.Join(columns, "; ")
}

func TestCSVErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file string
		options    []frame.Option
		want       string
	}{
		{"empty", "", nil, "frame: CSV: want a first line with the names of the columns, got nothing"},
		{"too few fields", "a,b\n1,2\n3\n", nil, "frame: CSV, line 3: want 2 fields, as in the first line, got 1"},
		{"too many fields", "a,b\n\"x\ny\",2\n3,4,5\n", nil, "frame: CSV, line 4: want 2 fields, as in the first line, got 3"},
		{"open quote", "a,b\n1,\"2\n3,4\n", nil, `frame: CSV, line 2: want a quotation mark at the end of the field, got "\"2"`},
		{"quote within", "a,b\n1,5\" pipe\n", nil, `frame: CSV, line 2: want a field in quotation marks, with those within it doubled, got a quotation mark within the field "5\" pipe"`},
		{"text after the quote", "a,b\n\"1\"x,2\n", nil, `frame: CSV, line 2: want a separator after the field in quotation marks, and those within it doubled, got "\"1\"x,2"`},
		{"two names", "a,a\n1,2\n", nil, `frame: CSV, line 1: want another name for each column, got "a" twice`},
		{"Latin-1", "a,b\n1,2\ncaf\xe9,3\n", nil, "frame: CSV, line 3: want text in UTF-8, got the byte 0xe9: convert the file, or read it through a decoder of golang.org/x/text/encoding/charmap with ReadCSV"},
		{"a missing value", "a,b,c\n1,,\n2,x,NA\n", []frame.Option{frame.As(frame.Text, "b"), frame.Required(frame.Float)}, `frame: CSV, line 2, column "c": want a value; fill it in, or leave out the line, got ""`},
		{"beyond float32", "a\n1\n1e39\n", []frame.Option{frame.Required(frame.Float, "a")}, `frame: CSV, line 3, column "a": want a finite number in the range of float32, got "1e39"`},
		{"another type", "a,b\n\"x\ny\",2\nz,w\n", []frame.Option{frame.As(frame.Int, "b")}, `frame: CSV, line 4, column "b": want a value of type int, got "w"`},
		{"another layout", "a\n2024-12-31\n", []frame.Option{frame.Layout("02.01.2006", "a")}, `frame: CSV, line 2, column "a": want a time in the layout "02.01.2006", got "2024-12-31"`},
		{"workbook", "PK\x03\x04abc", nil, "frame: CSV: want text, got a ZIP archive, such as an Excel workbook: save the sheet as CSV"},
		{"no such column", "age,b\n1,2\n", []frame.Option{frame.Only("Agee")}, `frame: no column is named "Agee"; did you mean "age"?`},
		{"a column twice", "a,b\n1,2\n", []frame.Option{frame.Only("a", "a")}, `frame: two columns are named "a": rename one of them`},
		{"truncated gzip", "\x1f\x8b\x08\x00", nil, "frame: compressed data: want a whole file, got one that is damaged or truncated (unexpected EOF)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, err := frame.ReadCSV(strings.NewReader(test.file), test.options...)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v, %v\nwant %s", f, err, test.want)
			}
		})
	}
}

func TestCSVFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, "a,b\n1,x\n2,y\n")
	z.Close()
	path := filepath.Join(folder, "small.csv.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := frame.CSV(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "copy.csv")
	if err := f.WriteCSV(copied); err != nil {
		t.Fatal(err)
	}
	again, err := frame.CSV(copied)
	if want := "a int: 1 2; b text: x y"; err != nil || contents(again) != want {
		t.Errorf("got %s, %v, want %s", contents(again), err, want)
	}
	if err := os.WriteFile(path, []byte("a\n\""), 0o600); err != nil {
		t.Fatal(err)
	}
	var invalid *frame.FileError
	if _, err := frame.CSV(path); !errors.As(err, &invalid) || invalid.Path != path || invalid.Line != 2 {
		t.Errorf("got %v, want a FileError of line 2 of %s", err, path)
	}
	if _, err := frame.CSV(filepath.Join(folder, "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no file", err)
	}
}

// TestFormatCSVKeepsTexts writes texts that would be read as others without quotation marks.
func TestFormatCSVKeepsTexts(t *testing.T) {
	t.Parallel()
	words := []string{"NA", "x ", "\ty", "null", "a,b", `"`, "line\nbreak", "\r", "plain", " "}
	var b bytes.Buffer
	if err := frame.New(frame.Texts("one", words...), frame.Ints("n", make([]int, len(words))...)).FormatCSV(&b); err != nil {
		t.Fatal(err)
	}
	again, err := frame.ReadCSV(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Column("one").Texts(); again.Column("one").CountMissing() > 0 || !slices.Equal(got, words) {
		t.Errorf("got %q, want %q", got, words)
	}
}

// TestCSVOfManyChunks reads a file that is parsed in many pieces, with line breaks in quotes and columns whose
// type only the last lines decide.
func TestCSVOfManyChunks(t *testing.T) {
	t.Parallel()
	const rows = 60_000
	var b strings.Builder
	b.WriteString("n,x,word,late,seldom\n")
	for i := range rows {
		word := "w" + strconv.Itoa(i)
		if i%3 == 0 {
			word = strings.Repeat("quoted, \"\"\n", i%7) + word
			word = `"` + word + `"`
		}
		late, seldom := strconv.Itoa(i), ""
		if i == rows-1 {
			late = "last"
		}
		if i == 5 || i == rows-2 {
			seldom = "0." + strconv.Itoa(i)
		}
		fmt.Fprintf(&b, "%d,%v,%s,%s,%s\n", i, float64(i)/7, word, late, seldom)
	}
	f, err := frame.ReadCSV(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != rows {
		t.Fatalf("got %d rows, want %d", f.Len(), rows)
	}
	n, x, words, late, seldom := f.Column("n").Ints(), f.Column("x").Floats(), f.Column("word").Texts(), f.Column("late").Texts(), f.Column("seldom").Floats()
	for i := range rows {
		word := "w" + strconv.Itoa(i)
		if i%3 == 0 {
			word = strings.Repeat("quoted, \"\n", i%7) + word
		}
		if n[i] != i || x[i] != float64(i)/7 || words[i] != word || i < rows-1 && late[i] != strconv.Itoa(i) || i == rows-1 && late[i] != "last" {
			t.Fatalf("row %d is %d, %v, %q, %q", i, n[i], x[i], words[i], late[i])
		}
		if present := i == 5 || i == rows-2; present == math.IsNaN(seldom[i]) {
			t.Fatalf("row %d of seldom is %v", i, seldom[i])
		}
	}
	var wrong *frame.TypeError
	func() {
		defer func() { wrong, _ = recover().(*frame.TypeError) }()
		f.Column("late").Floats()
	}()
	if wrong == nil || !strings.HasSuffix(wrong.Reason, ` has "last"`) {
		t.Errorf("got %v, want a TypeError with the line that has \"last\"", wrong)
	}
}

// TestCSVOfSimilarChunks reads a file of many chunks without quotation marks, where columns have one type in all chunks or
// another in the last one, and where the last chunk may have an empty line.
func TestCSVOfSimilarChunks(t *testing.T) {
	t.Parallel()
	const rows = 60_000
	for _, gap := range []string{"", "\n"} {
		var b strings.Builder
		b.WriteString("n,x,word,yes,day,late,sparse\n")
		for i := range rows {
			n, x, sparse := strconv.Itoa(i), fmt.Sprint(float64(i)/8), ""
			if i%1000 == 7 {
				n, x = "", "NaN"
			}
			late := n
			if i == rows-1 {
				b.WriteString(gap)
				late, sparse = "0.5", "1"
			}
			fmt.Fprintf(&b, "%s,%s,word %d,%t,2024-02-%02d,%s,%s\n", n, x, i, i%2 == 0, 1+i%29, late, sparse)
		}
		f, err := frame.ReadCSV(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		types := ""
		for _, name := range f.Columns() {
			types += f.Column(name).Type().String() + " "
		}
		if want := "int float text bool time float int "; types != want || f.Len() != rows {
			t.Fatalf("got %d rows of %s, want %d of %s", f.Len(), types, rows, want)
		}
		n, x, words, yes, days, late, sparse := f.Column("n"), f.Column("x").Floats(), f.Column("word").Texts(), f.Column("yes").Bools(), f.Column("day").Times(), f.Column("late").Floats(), f.Column("sparse")
		for i := range rows {
			missing := i%1000 == 7
			if n.Missing(i) != missing || math.IsNaN(x[i]) != missing || math.IsNaN(late[i]) != missing || sparse.Missing(i) != (i < rows-1) {
				t.Fatalf("row %d: other values are missing", i)
			}
			if !missing && (n.Format(i) != strconv.Itoa(i) || x[i] != float64(i)/8 || i < rows-1 && late[i] != float64(i)) {
				t.Fatalf("row %d is %s, %v, %v", i, n.Format(i), x[i], late[i])
			}
			if words[i] != "word "+strconv.Itoa(i) || yes[i] != (i%2 == 0) || days[i].Day() != 1+i%29 {
				t.Fatalf("row %d is %q, %v, %v", i, words[i], yes[i], days[i])
			}
		}
	}
}

// FuzzCSV compares the texts of all fields with encoding/csv, where it accepts the file too, and what is read with what is
// read after writing it. Unlike encoding/csv, ReadCSV ignores space around fields and keeps \r\n within quotes.
func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,2\n")
	f.Add("a,b\n\"x\"\"y\n\",2\r\n\n , 3 \n")
	f.Add("a\n1e5\n-7\n2024-01-01\n")
	f.Add("\ufeffa,b\r\n\"\",NA\r\n" + strings.Repeat("\"line\nbreak, and 64 bytes of text before the next quotation mark\",7.25\r\n", 5))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := frame.ReadCSV(strings.NewReader(text), frame.Separator(','), frame.NoHeader())
		if err != nil {
			return
		}
		compareWithEncodingCSV(t, text, got.Columns())
		var b bytes.Buffer
		if err := got.FormatCSV(&b); err != nil {
			t.Fatal(err)
		}
		again, err := frame.ReadCSV(&b, frame.Separator(','))
		if got.Len() > 0 && len(got.Columns()) > 1 && (err != nil || !slices.Equal(texts(got), texts(again))) {
			t.Errorf("%q: read %s, written and read %v, %v", text, contents(got), again, err)
		}
	})
}

// compareWithEncodingCSV reads the columns of a file as text, and with encoding/csv.
func compareWithEncodingCSV(t *testing.T, text string, columns []string) {
	t.Helper()
	got, err := frame.ReadCSV(strings.NewReader(text), frame.Separator(','), frame.NoHeader(), frame.As(frame.Text, columns...))
	if err != nil {
		t.Fatalf("%q: as text: %v", text, err)
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		return
	}
	// A line with nothing but space has no values for ReadCSV.
	all = slices.DeleteFunc(all, func(record []string) bool { return len(record) == 1 && strings.Trim(record[0], " \t\r") == "" })
	if len(columns) == 1 && got.Len() != len(all) {
		return // it may be quoted
	}
	if len(all) != got.Len() {
		t.Fatalf("%q: got %d records, want %d", text, got.Len(), len(all))
	}
	missing := []string{"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
	for k, name := range columns {
		c := got.Column(name)
		for i, record := range all {
			value, want := strings.ReplaceAll(c.Texts()[i], "\r\n", "\n"), strings.ReplaceAll(record[k], "\r\n", "\n")
			if c.Missing(i) && slices.Contains(missing, strings.Trim(want, " \t\r")) {
				continue
			}
			if value != want && value != strings.Trim(want, " \t\r") {
				t.Fatalf("%q: record %d, column %d is %q, want %q", text, i, k, value, want)
			}
		}
	}
}

// texts returns all values as CSV has them, where numbers may have another notation.
func texts(f *frame.Frame) []string {
	var all []string
	for _, name := range f.Columns() {
		for _, v := range f.Column(name).Texts() {
			if x, err := strconv.ParseFloat(v, 64); err == nil {
				v = fmt.Sprint(x)
			}
			if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
				v = at.UTC().String()
			}
			all = append(all, strings.TrimSpace(strings.ReplaceAll(v, "\r\n", "\n")))
		}
	}
	return all
}
