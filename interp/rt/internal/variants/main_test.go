package main

import (
	"bytes"
	"go/format"
	"os"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, source := range map[string][]byte{"variants_gen.go": boxes(), "wrap_io_gen.go": streams()} {
		want, err := format.Source(source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate in interp/rt", name)
		}
	}
}
