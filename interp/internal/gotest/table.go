package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"text/tabwriter"
)

// printTable writes the number of tests with each outcome, by folder.
func printTable(w io.Writer, results []result) {
	counts := map[string]map[outcome]int{}
	for _, v := range results {
		for _, row := range []string{path.Dir(v.Name), "all"} {
			if counts[row] == nil {
				counts[row] = map[outcome]int{}
			}
			counts[row][v.Outcome]++
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "folder\tfiles\t")
	for _, o := range outcomes {
		fmt.Fprintf(t, "%s\t", o)
	}
	fmt.Fprintln(t, "pass %\t")
	var rows []string
	for row := range counts {
		if row != "all" {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	for _, row := range append(rows, "all") {
		total := 0
		for _, n := range counts[row] {
			total += n
		}
		fmt.Fprintf(t, "%s\t%d\t", row, total)
		for _, o := range outcomes {
			fmt.Fprintf(t, "%d\t", counts[row][o])
		}
		fmt.Fprintf(t, "%.1f\t\n", 100*float64(counts[row][pass])/float64(max(total, 1)))
	}
	t.Flush()
}

// printCauses writes the failures by cause, the most common cause first.
func printCauses(w io.Writer, results []result, known failures) {
	type key struct {
		outcome outcome
		cause   string
	}
	groups := map[key][]string{}
	for _, v := range results {
		if v.Outcome != pass {
			k := key{v.Outcome, known.cause(v)}
			groups[k] = append(groups[k], v.Name)
		}
	}
	keys := make([]key, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		if d := len(groups[b]) - len(groups[a]); d != 0 {
			return d
		}
		return slices.Compare([]string{string(a.outcome), a.cause}, []string{string(b.outcome), b.cause})
	})
	for _, k := range keys {
		fmt.Fprintf(w, "%4d %s: %s\n", len(groups[k]), k.outcome, k.cause)
		for _, name := range groups[k] {
			fmt.Fprintf(w, "       %s\n", name)
		}
	}
}
