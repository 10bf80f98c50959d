package main

import (
	"bytes"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

func TestList(t *testing.T) {
	var out bytes.Buffer
	if err := list(&out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "ops.txt", out.Bytes())
}
