package display_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/display"
)

func TestTable(t *testing.T) {
	type row struct {
		Name  string
		Score float64
		note  string
	}
	rows := []row{{"ann", 1.5, "a"}, {"bob & co", 22, "b"}}
	fewer := func() any { type row struct{ Score float64 }; return row{3} }()
	renamed := func() any {
		type row struct {
			Title string
			Score float64
			note  string
		}
		return &row{"c", 3, ""}
	}()
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	tests := []struct {
		name    string
		in      any
		columns []string
		want    string
	}{
		{"structs", rows, nil, "Name      Score\nann         1.5\nbob & co     22"},
		{"pointers", []*row{&rows[0], nil}, nil, "Name  Score\nann     1.5\n"},
		{"raw JSON", []struct{ Raw json.RawMessage }{{json.RawMessage(`{"a":1}`)}, {json.RawMessage(`[]`)}}, nil, "Raw\n{\"a\":1}\n[]"},
		{"other types of the same name", []any{rows[0], fewer, renamed}, nil, "Name                     Score\nann                        1.5\n{Score:3}\n{Title:c Score:3 note:}"},
		{"chosen", rows, []string{"note", "Name"}, "note  Name\na     ann\nb     bob & co"},
		{"unknown column", rows, []string{"Title"}, `display: display_test.row has no field "Title": it has Name, Score, note`},
		{"maps", []map[string]any{{"b": 1, "a": "x"}, {"b": 22}}, nil, "a   b\nx   1\n   22"},
		{"lists", [][]any{{"x", 1}, {"y", 2, true}}, []string{"name", "n"}, "name  n  2\nx     1\ny     2  true"},
		{"map", map[string]int{"b": 2, "a": 1}, nil, "key  value\na        1\nb        2"},
		{"map of structs", map[string]row{"k": rows[0]}, nil, "key  Name  Score\nk    ann     1.5"},
		{"struct", rows[0], nil, "field  value\nName   ann\nScore  1.5\nnote   a"},
		{"numbers", []int{5, 10}, nil, "value\n    5\n   10"},
		{"quantities", [][]any{{"a", "8.06 ms", "63.5 ± 9.1 %", "−1", "1.5e−7", "4 of 5"}, {"b", "12 ms", "", "120", "2", "5 of 5"}}, []string{"", "t", "%", "d", "e", "n"},
			"         t             %    d       e  n\na  8.06 ms  63.5 ± 9.1 %   −1  1.5e−7  4 of 5\nb    12 ms                120       2  5 of 5"},
		{"texts of structs", []time.Time{time.Unix(0, 0).UTC()}, nil, "value\n1970-01-01 00:00:00 +0000 UTC"},
		{"errors", []error{errors.New("a"), nil}, nil, "value\na\n"},
		{"list of raw JSON", []json.RawMessage{json.RawMessage(`{"a":1}`), nil}, nil, "value\n{\"a\":1}\nnull"},
		{"fields without a name", []struct {
			_ int
			A string
			_ bool
		}{{A: "x"}}, nil, "A\nx"},
		{"keys with the same text", []map[any]any{{1: "int", "1": "text"}}, nil, "1\nseveral values"},
		{"a map in itself", cyclic, nil, "key   value\nself  map[string]any (1 element)"},
		{"numbers that are no numbers", []float64{math.NaN(), math.Inf(1), 1}, nil, "value\n  NaN\n +Inf\n    1"},
		{"a field twice", rows, []string{"Score", "Score"}, "Score  Score\n  1.5    1.5\n   22     22"},
		{"no fields", []struct{}{{}, {}}, nil, "value\n{}\n{}"},
		{"nil pointer", (*[]row)(nil), nil, "display: cannot make a table of a nil *[]display_test.row"},
		{"empty", []row{}, nil, "Name  Score"},
		{"nil", nil, nil, "display: cannot make a table of nil"},
		{"number", 3, nil, "display: cannot make a table of int: want a slice of structs, maps or slices, a map or a struct"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := display.Table(tt.in, tt.columns...).String(); got != tt.want {
				t.Errorf("want\n%s\ngot\n%s", tt.want, got)
			}
		})
	}
}

func TestTableHTML(t *testing.T) {
	got, _ := display.Table([]map[string]any{{"<b>": "a<script>", "n": 1}}).MIMEBundle()["text/html"].(string)
	want := `<!-- 1 row: &lt;b&gt;, n -->
<div class="quern-table tex2jax_ignore mathjax_ignore"><table>
<thead><tr><th style="text-align:left">&lt;b&gt;</th><th style="text-align:right">n</th></tr></thead>
<tbody>
<tr><td style="text-align:left">a&lt;script&gt;</td><td style="text-align:right;white-space:nowrap">1</td></tr>
</tbody>
</table></div>`
	if got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// A long table shows its ends and its size.
func TestTableIsCut(t *testing.T) {
	rows := make([][]int, 10_000)
	for i := range rows {
		rows[i] = make([]int, 300)
		rows[i][0] = i
	}
	table := display.Table(rows)
	if got := strings.Count(table.String(), "\n"); got != 62 { // header, 60 rows, gap, footer
		t.Errorf("%d line ends", got)
	}
	for _, want := range []string{"\n   9  ", "…", "\n9999  ", "10000 rows × 300 columns"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if html := table.MIMEBundle()["text/html"].(string); len(html) > 400<<10 {
		t.Errorf("%d bytes of HTML", len(html))
	}
}

func ExampleTable() {
	type epoch struct {
		Epoch int
		Loss  float64
	}
	fmt.Println(display.Table([]epoch{{1, 0.5}, {2, 0.25}}))
	// Output:
	// Epoch  Loss
	//     1   0.5
	//     2  0.25
}

// Seven columns fit on paper; wider tables are printed in a smaller font.
func TestWideTable(t *testing.T) {
	for columns, wide := range map[int]bool{7: false, 8: true} {
		page := display.Table([][]float64{make([]float64, columns)}).MIMEBundle()["text/html"].(string)
		if strings.Contains(page, "@media print") != wide || strings.Contains(page, `<table class="quern-wide">`) != wide {
			t.Errorf("%d columns: %s", columns, page)
		}
	}
}
