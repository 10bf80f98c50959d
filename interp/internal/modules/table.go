package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// A row is a row of the table in docs/modules.md.
type row struct {
	module, version string
	outcome         outcome
	reason          string
	seconds, mib    float64
}

// begin is before the first row.
const begin = "| module | version | result | reason | s | MiB |\n|---|---|---|---|--:|--:|\n"

// A document is docs/modules.md.
type document struct {
	before, after string
	rows          map[string]row // by module
}

func readDocument(file string) (*document, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		return nil, fmt.Errorf("%s has no table of modules that begins with %q", file, begin)
	}
	d := &document{before: before, after: rest, rows: map[string]row{}}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		d.after = strings.TrimPrefix(d.after, line)
		r, err := parseRow(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		d.rows[r.module] = r
	}
	return d, nil
}

func parseRow(line string) (row, error) {
	cells := strings.Split(strings.Trim(line, "|"), " | ")
	if len(cells) != 6 {
		return row{}, fmt.Errorf("the row %q has %d cells instead of 6", line, len(cells))
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	r := row{module: strings.Trim(cells[0], "`"), version: cells[1], outcome: outcome(cells[2]), reason: strings.ReplaceAll(cells[3], `\|`, "|")}
	if _, err := fmt.Sscan(cells[4]+" "+cells[5], &r.seconds, &r.mib); err != nil {
		return row{}, fmt.Errorf("the row %q: %w", line, err)
	}
	return r, nil
}

func (r row) String() string {
	return fmt.Sprintf("| `%s` | %s | %s | %s | %.1f | %.0f |", r.module, r.version, r.outcome, strings.ReplaceAll(r.reason, "|", `\|`), r.seconds, r.mib)
}

// rowOf returns the row of a result. The reason is the first line of an error.
func rowOf(v result) row {
	m := v.program.module()
	reason, _, _ := strings.Cut(strings.TrimSpace(v.reason), "\n")
	return row{module: m.Path, version: m.Version, outcome: v.outcome, reason: reason, seconds: v.report.Seconds, mib: v.report.MiB}
}

// text returns the document with the results of all programs. It keeps the rows of programs that
// did not run.
func (d *document) text(programs []program, results []result) string {
	rows := map[string]row{}
	for _, v := range results {
		r := rowOf(v)
		rows[r.module] = r
	}
	var b strings.Builder
	b.WriteString(d.before + begin)
	written := map[string]bool{}
	for _, p := range programs {
		path := p.module().Path
		r, ok := rows[path]
		if !ok {
			r, ok = d.rows[path]
		}
		if ok && !written[path] {
			fmt.Fprintln(&b, r)
		}
		written[path] = true
	}
	return b.String() + d.after
}

// regressions returns an error that names the modules that worked and do not work any more.
func (d *document) regressions(results []result) error {
	var failed []error
	for _, v := range results {
		r := rowOf(v)
		if d.rows[r.module].outcome == works && r.outcome != works {
			failed = append(failed, fmt.Errorf("%s does not work any more: %s: %s", r.module, r.outcome, v.reason))
		}
	}
	return errors.Join(failed...)
}
