package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/internal/quantity"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Lengths of the table, which some tools show only the end of.
const (
	shownRows  = 8   // of a list
	shownWords = 230 // bytes of a message
)

// table returns all that a reader needs first, the parts and their statuses last.
func (r *report) table() string {
	var b strings.Builder
	say := func(format string, values ...any) { fmt.Fprintf(&b, format+"\n", values...) }
	say("\n==== %s of %s on %s", r.Command, r.Name, r.Date)
	if m := r.Machine; m != nil {
		for _, l := range m.Libraries {
			say("%s", shorten(l))
		}
		for _, why := range m.Refused {
			say("REFUSED %s", shorten(why))
		}
		if m.Fix != "" {
			say("-chown or this fixes it: %s", shorten(m.Fix))
		}
	}
	if r.FirstUse > 0 {
		say("first use %.2f s", r.FirstUse)
	}
	if len(r.Loaded) > 0 {
		say("%s", loadedSummary(r.Loaded))
	}
	r.smokeTable(say)
	for _, p := range r.Profiles {
		profileTable(p, &b)
	}
	if len(r.Candidates) > 0 {
		say("%s", candidatesSummary(r.Candidates))
	}
	r.comparisonTable(&b)
	if r.Cubins != nil {
		say("\n%s", r.Cubins)
	}
	r.variantTable(&b)
	for i, m := range r.NCU {
		if i < shownRows {
			say("ncu %s %s: %s", m.Kernel, m.Launch, metrics(m.Metrics))
		}
	}
	for _, line := range r.Sanitizer {
		say("compute-sanitizer %s", shorten(line))
	}
	r.wrongTable(say)
	r.partTable(&b)
	return b.String()
}

// metrics formats what Nsight Compute measured.
func metrics(all map[string]string) string {
	var out []string
	for _, name := range ncuMetrics {
		if value, ok := all[name]; ok {
			out = append(out, fmt.Sprintf("%s %s", strings.SplitN(name, ".", 2)[0], value))
		}
	}
	return strings.Join(out, ", ")
}

func shorten(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
	if len(text) > shownWords {
		text = strings.ToValidUTF8(text[:shownWords], "") + "…"
	}
	return text
}

func (r *report) smokeTable(say func(format string, values ...any)) {
	var right, skipped []string
	for _, t := range r.Smoke {
		switch {
		case t.Skipped != "":
			skipped = append(skipped, t.Model)
		case t.Error == "":
			right = append(right, fmt.Sprintf("%s %.1g", t.Model, t.Difference))
		}
	}
	if len(right) > 0 {
		say("losses as on the CPU, with the largest relative difference: %s", strings.Join(right, ", "))
	}
	if len(skipped) > 0 {
		say("not supported by the GPU: %s", strings.Join(skipped, ", "))
	}
}

// profileTable writes the longest kernels of a model.
func profileTable(p benchfile.Profile, b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s a step, %.3g graphs, %.0f kernels, %.3g allocations, %.3g waits, %.3g GB, %.3g TFLOP; an event adds %s\n",
		p.Case, quantity.Seconds(p.Step), p.Graphs, p.Kernels, p.Allocs, p.Waits, p.Bytes/1e9, p.FLOPs/1e12, quantity.Seconds(p.EventCost))
	var peaks []string
	for _, name := range sortedKeys(p.Ceilings) {
		if name == benchfile.Bandwidth {
			peaks = append(peaks, fmt.Sprintf("%.4g GB/s", p.Ceilings[name]/1e9))
			continue
		}
		peaks = append(peaks, fmt.Sprintf("%s %.4g TFLOP/s", name, p.Ceilings[name]/1e12))
	}
	fmt.Fprintf(b, "measured ceilings: %s\n", strings.Join(peaks, ", "))
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, row := range p.Rows {
		if i == shownRows {
			break
		}
		fmt.Fprintf(t, "  %s\t%.0f×\t%s\t%.0f %%\t%.0f GB/s\t%.3g TFLOP/s\t%.0f %% of its ceiling\n",
			shortName(row.Kernels), row.Count, quantity.Seconds(row.Seconds), 100*row.Seconds/max(p.Step, 1e-12), row.Bytes/1e9, row.FLOPs/1e12, 100*row.Ceiling)
	}
	_ = t.Flush() // a strings.Builder does not fail
}

func shortName(kernels string) string {
	if len(kernels) > 44 {
		return strings.ToValidUTF8(kernels[:44], "") + "…"
	}
	return kernels
}

// comparisonTable writes the times of the models, each beside PyTorch's.
func (r *report) comparisonTable(b *strings.Builder) {
	var all benchResult
	if r.Models == nil || json.Unmarshal(r.Models, &all) != nil {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nmodel\tquern\tper second\t%s\n", strings.Join(torchSettings, "\t"))
	for _, name := range sortedKeys(all.Figures) {
		f := all.Figures[name]
		quern := f.Times["quern"].Median
		fmt.Fprintf(t, "%s\t%s\t%.0f", name, quantity.Seconds(quern), float64(f.Samples)/max(quern, 1e-12))
		for _, s := range torchSettings {
			if other := f.Times[s].Median; other > 0 {
				fmt.Fprintf(t, "\t%s (%.2f× ours)", quantity.Seconds(other), other/max(quern, 1e-12))
				continue
			}
			fmt.Fprint(t, "\tmissing")
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // a strings.Builder does not fail
}

func (r *report) variantTable(b *strings.Builder) {
	if len(r.Variants) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nmodel\tvariant\tdefault\twith it\ttimes the default\n")
	for _, v := range r.Variants {
		switch {
		case v.NotMeasured != "":
			fmt.Fprintf(t, "%s\t%s\tnot measured\t%s\n", v.Case, v.Setting, shorten(v.NotMeasured))
		case v.Error != "":
			fmt.Fprintf(t, "%s\t%s\tfailed\t%s\n", v.Case, v.Setting, shorten(v.Error))
		default:
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.3f\n", v.Case, v.Setting, quantity.Seconds(v.Default), quantity.Seconds(v.Seconds), v.Ratio)
		}
	}
	_ = t.Flush() // a strings.Builder does not fail
}

// wrongTable writes the wrong results, and how many are right.
func (r *report) wrongTable(say func(format string, values ...any)) {
	var bad []string
	for _, t := range r.Smoke {
		if t.Error != "" {
			bad = append(bad, fmt.Sprintf("model %s: %s", t.Model, t.Error))
		}
	}
	ops, kernels, skipped := 0, 0, 0
	for _, c := range r.Ops {
		if c.Error == "" {
			ops++
			continue
		}
		bad = append(bad, strings.TrimSpace(fmt.Sprintf("op %s %s: %s", c.Op, c.Device, c.Error)))
	}
	for _, k := range r.Kernels {
		switch k.Result {
		case "PASS":
			kernels++
		case "SKIP":
			skipped++
		default:
			bad = append(bad, fmt.Sprintf("kernel test %s: %s", k.Test, k.Words))
		}
	}
	if len(r.Ops)+len(r.Kernels) > 0 {
		say("\n%d of %d ops are right, %d of %d kernel tests, %d skipped on this GPU", ops, len(r.Ops), kernels, len(r.Kernels)-skipped, skipped)
	}
	for i, line := range bad {
		if i == 2*shownRows {
			say("WRONG and %d more, see the file", len(bad)-i)
			break
		}
		say("WRONG %s", shorten(line))
	}
}

func (r *report) partTable(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\npart\tstatus\tseconds\n")
	for _, p := range r.Parts {
		fmt.Fprintf(t, "%s\t%s\t%.0f\t%s\n", p.Name, p.Status, p.Seconds, shorten(p.Why))
	}
	_ = t.Flush() // a strings.Builder does not fail
	worst := slices.MaxFunc(append(slices.Clone(r.Parts), partResult{Status: complete}), func(a, b partResult) int {
		return cmp.Compare(slices.Index(statuses, a.Status), slices.Index(statuses, b.Status))
	})
	fmt.Fprintf(b, "the exit status is %d: the worst part is %s\n", r.exit(), worst.Status)
}
