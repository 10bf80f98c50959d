package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain makes the test binary serve as a benchmark process too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveCommand {
		serve(os.Args[2:], os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// TestServe prepares and runs every quick benchmark through the protocol.
func TestServe(t *testing.T) {
	folder := t.TempDir()
	var in, out bytes.Buffer
	ask := json.NewEncoder(&in)
	requests := []request{{Do: "versions"}, {Do: "prepare", Bench: peakBench}}
	for _, name := range []string{"gemm-784", "mlp"} {
		c, err := options{device: "cpu"}.caseNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name)
		if err := c.arrays(newGenerator()).write(path); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, request{Do: "prepare", Bench: name, Case: path}, request{Do: "run", Bench: name, Steps: 2})
	}
	requests = append(requests, request{Do: "run", Bench: "mlp", Steps: 2, Empty: 1 << 20}, request{Do: "drop"}, request{Do: "run", Bench: "mlp", Steps: 1}, request{Do: "fly"}, request{Do: "prepare", Bench: "nothing"})
	for _, q := range requests {
		if err := ask.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	in.WriteString("no JSON\n")
	serve([]string{"cpu"}, &in, &out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(requests)+1 {
		t.Fatalf("%d answers to %d requests: %s", len(lines), len(requests)+1, out.String())
	}
	for i, want := range []func(a reply) bool{
		func(a reply) bool { return a.Versions["go"] != "" },
		func(a reply) bool { return a.Flops > 0 },
		func(a reply) bool { return len(a.Losses) == checkedSteps && a.Losses[0] != 0 },
		func(a reply) bool { return a.Seconds > 0 },
		func(a reply) bool { return len(a.Losses) == checkedSteps && a.Losses[0] > a.Losses[checkedSteps-1] },
		func(a reply) bool { return a.Seconds > 0 },
		func(a reply) bool { return a.Seconds > 0 },
		func(a reply) bool { return a.Error == "" },
		func(a reply) bool { return a.Error == "mlp is not prepared" },
		func(a reply) bool { return strings.Contains(a.Error, "fly") },
		func(a reply) bool { return strings.Contains(a.Error, "nothing") },
		func(a reply) bool { return a.Error != "" },
	} {
		var a reply
		if err := json.Unmarshal([]byte(lines[i]), &a); err != nil || !want(a) {
			t.Errorf("answer %d is %s (%v)", i, lines[i], err)
		}
	}
}

func TestArraysGoThroughFiles(t *testing.T) {
	g := newGenerator()
	want := groups{g.normal("x", 2, 3), g.below(10, "y", 4), g.normal("parameters", 1)}
	path := filepath.Join(t.TempDir(), "case")
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readGroups(path)
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for i := range want {
		if got[i].group != want[i].group || len(got[i].shape) != len(want[i].shape) || len(got[i].data) != len(want[i].data) || got[i].data[0] != want[i].data[0] {
			t.Errorf("array %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestCasesArePrepared checks that every benchmark has what the table and the targets need.
func TestCasesArePrepared(t *testing.T) {
	for _, c := range slices.Concat(cpuCases(), gpuCases(false), gpuCases(true)) {
		if c.name == "" || c.description == "" || c.arrays == nil || (c.start == nil) == (c.startFiles == nil) || c.flops+c.bytes+float64(c.samples) <= 0 {
			t.Errorf("%s is incomplete", c.name)
		}
		if len(c.share) > len(c.threads) {
			t.Errorf("%s has targets for settings that it has not", c.name)
		}
	}
}
