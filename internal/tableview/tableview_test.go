package tableview_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/internal/tableview"
)

// stored is what a page has for its script.
type stored struct {
	Kinds      string
	Gap, Total int
	More       [][]any
}

var data = regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>\n<script>\n(.*?)</script>`)

func read(t *testing.T, page string) (d stored) {
	t.Helper()
	m := data.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no data in\n%s", page)
	}
	if err := json.Unmarshal([]byte(m[1]), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func cells(texts ...string) (row []tableview.Cell) {
	for _, text := range texts {
		row = append(row, tableview.Cell{Text: text})
	}
	return row
}

func TestHTML(t *testing.T) {
	t.Parallel()
	table := tableview.Table{
		Columns: []tableview.Column{{}, {Title: "<a>", Note: "<br>text"}, {Title: "n", Right: true}},
		Rows: [][]tableview.Cell{
			{{Text: "0"}, {Text: "</script>"}, {Text: "1.2 s", Key: "1.2", Unit: "s"}},
			{{Text: "1"}, {Text: "missing", Missing: true}, {Text: "3"}},
		},
		Gap: -1, Total: 2, Numbered: true, Footer: "2 rows & 3 columns",
	}
	want := `<!-- 2 rows: &lt;a&gt;, n -->
<div class="quern-table tex2jax_ignore mathjax_ignore"><table>
<thead><tr><th style="text-align:left"></th><th style="text-align:left;vertical-align:bottom">&lt;a&gt;<br>text</th><th style="text-align:right">n</th></tr></thead>
<tbody>
<tr><th style="text-align:left">0</th><td style="text-align:left">&lt;/script&gt;</td><td style="text-align:right;white-space:nowrap">1.2 s</td></tr>
<tr><th style="text-align:left">1</th><td style="text-align:left;opacity:.5" data-key="">missing</td><td style="text-align:right;white-space:nowrap">3</td></tr>
</tbody>
</table>
<div>2 rows &amp; 3 columns</div></div>`
	if got := table.HTML(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSorted has tables with three rows, which a script can sort.
func TestSorted(t *testing.T) {
	t.Parallel()
	key := func(text, key, unit string) tableview.Cell {
		return tableview.Cell{Text: text, Key: key, Unit: unit}
	}
	for _, row := range []struct {
		name   string
		column [3]tableview.Cell
		gap    bool
		kind   string
		keys   []string // of the rows that are shown, where they differ from the texts
	}{
		{"texts", [3]tableview.Cell{{Text: "b"}, {Text: "a"}, {Text: "c"}}, false, "t", nil},
		{"numbers", [3]tableview.Cell{key("10", "10", ""), key("9", "9", ""), key("NaN", "NaN", "")}, false, "n", nil},
		{"one unit", [3]tableview.Cell{key("10 ms", "0.01", "s"), key("9 s", "9", "s"), key("2", "2", "s")}, false, "n", []string{"0.01", "9"}},
		{"two units", [3]tableview.Cell{key("10 ms", "0.01", "s"), key("9 kB", "9000", "B"), {}}, false, "t", nil},
		{"one text", [3]tableview.Cell{key("10", "10", ""), {Text: "many"}, {}}, false, "t", nil},
		{"missing numbers", [3]tableview.Cell{{Text: "missing", Missing: true}, {Text: "–"}, key("1", "1", "")}, false, "n", []string{""}},
		{"nothing", [3]tableview.Cell{{}, {}, {}}, false, "t", nil},
		{"a gap", [3]tableview.Cell{{Text: "…"}, {Text: "…"}, {Text: "…"}}, true, "-", nil},
	} {
		table := tableview.Table{Columns: []tableview.Column{{Gap: row.gap}}, Gap: -1, Total: 3}
		for _, c := range row.column {
			table.Rows = append(table.Rows, []tableview.Cell{c})
		}
		page := table.HTML()
		var keys []string
		for _, m := range regexp.MustCompile(`data-key="(.*?)"`).FindAllStringSubmatch(page, -1) {
			keys = append(keys, m[1])
		}
		if d := read(t, page); d.Kinds != row.kind || d.Gap != -1 || d.Total != 3 || len(d.More) != 0 || fmt.Sprint(keys) != fmt.Sprint(row.keys) {
			t.Errorf("%s: %+v, keys %q", row.name, d, keys)
		}
		table.Fixed = true
		if page := table.HTML(); strings.Contains(page, "<script") {
			t.Errorf("%s: a table in a fixed order has a script:\n%s", row.name, page)
		}
	}
}

// TestFill stores rows for the script, of which a notebook must not become too large.
func TestFill(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rows, width int
		more, bytes int
	}{
		{500, 1, 497, 3 * 32 << 10},
		{5000, 1, tableview.MaxRows - 2, 3 * 32 << 10},
		{5000, 100, tableview.MaxBytes / 103, 2 * 32 << 10},
		{5000, 50_000, 0, 1 << 10},
	} {
		table := tableview.Table{Columns: make([]tableview.Column, 1), Rows: [][]tableview.Cell{cells("a"), cells("b"), cells("c")}, Gap: 2, Total: row.rows}
		table.Fill(2, row.rows-1, func(i int) []tableview.Cell { return cells(fmt.Sprintf("%*d", row.width, i)) })
		d := read(t, table.HTML())
		if len(d.More) != row.more || d.Gap != 2 || d.Total != row.rows {
			t.Errorf("%+v: %d rows stored", row, len(d.More))
		}
		text, _ := json.Marshal(d)
		if len(text) > row.bytes {
			t.Errorf("%+v: %d bytes", row, len(text))
		}
		if len(d.More) > 0 && strings.TrimSpace(d.More[0][0].(string)) != "2" {
			t.Errorf("%+v: the first is %v", row, d.More[0])
		}
	}
}

// The script, which each table has, stays small and has no empty lines, which end HTML in Markdown.
func TestScript(t *testing.T) {
	t.Parallel()
	table := tableview.Table{Columns: make([]tableview.Column, 1), Rows: [][]tableview.Cell{cells("a"), cells("b"), cells("</script>")}, Gap: -1, Total: 3}
	page := table.HTML()
	script := data.FindStringSubmatch(page)[2]
	if len(script) > 5<<10 || strings.Contains(script, "//") || strings.Contains(page, "\n\n") || strings.Count(page, "</script>") != 2 {
		t.Errorf("%d bytes:\n%s", len(script), page)
	}
}

// Quantities are sorted by their values, whatever their units and separators.
func TestQuantityKey(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, key, unit string }{
		{"9 kB", "9000", "B"},
		{"10 MB", "1e+07", "B"},
		{"1.5 KiB", "1536", "B"},
		{"2GiB", "2.147483648e+09", "B"},
		{"512 bytes", "512", "B"},
		{"1,234 B", "1234", "B"},
		{"-1,234,567.5 B", "-1.2345675e+06", "B"},
		{"12\u00a0000 B", "12000", "B"},
		{"3 ms", "0.003", "s"},
		{"20.5 µs", "2.05e-05", "s"},
		{"2 h", "7200", "s"},
		{"63.5 ± 9.1 %", "63.5", "%"},
		{"−1.5e−7", "-1.5e-07", ""},
		{"1.5 M", "1.5e+06", ""},
		{"1,5 B", "", ""},       // decimals, or a mistake
		{"12,34,567", "", ""},   // groups of other sizes
		{"0,123", "", ""},       // decimals
		{"1.234.567 B", "", ""}, // points as separators
		{"4 of 5", "", ""},
		{"10 MB free", "", ""},
		{"–", "", ""},
	} {
		if key, unit := tableview.QuantityKey(row.text); key != row.key || unit != row.unit {
			t.Errorf("%s: got %q %q, want %q %q", row.text, key, unit, row.key, row.unit)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ got, want string }{
		{tableview.FloatKey(1.5, "1.5"), "1.5"},
		{tableview.FloatKey(1234567, "1.23457e+06"), "1.234567e+06"},
		{tableview.FloatKey(math.Inf(1), "+Inf"), "+Inf"},
		{tableview.FloatKey(math.NaN(), "NaN"), "NaN"},
		{tableview.TimeKey(time.Unix(1, 5)), "1000000005"},
		{tableview.TimeKey(time.Unix(-1, 5e8)), strconv.Itoa(-5e8)},
		{tableview.TimeKey(time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)), "32503680000000000000"},
	} {
		if row.got != row.want {
			t.Errorf("got %s, want %s", row.got, row.want)
		}
	}
}
