package main

import (
	"bytes"
	"os"
	"testing"
)

// A newer go-nvml may call functions that are missing from the list.
func TestCurrent(t *testing.T) {
	checkedIn, err := os.ReadFile("../../functions.h")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(checkedIn, list()) {
		t.Error("functions.h differs from what go-nvml calls; run go generate ./gpu/...")
	}
}
