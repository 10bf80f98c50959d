package main

import (
	"os"
	"slices"
	"testing"
	"unicode/utf8"
)

// TestFresh fails if a module of the program is missing in the notices or has another
// version or license.
func TestFresh(t *testing.T) {
	notice, text, err := render("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"../../../NOTICE": notice, "../notices.txt": text} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(got) {
			t.Errorf("%s is not in UTF-8", file)
		}
		if string(got) != want {
			t.Errorf("%s is outdated: run go generate ./internal/notices", file)
		}
	}
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string][]string{
		"Permission is granted ... to permit persons to\nwhom the Software is furnished to do so":      {"MIT"},
		"* Redistributions in binary form must\n *  reproduce the above copyright":                     {"BSD-2-Clause"},
		"Redistributions in binary form must reproduce\nmay be used to endorse or promote products":    {"BSD-3-Clause"},
		"Apache License\n   Version 2.0, January 2004":                                                 {"Apache-2.0"},
		"GNU GENERAL PUBLIC LICENSE Version 3: everyone is permitted to copy and distribute this file": nil,
	} {
		if got := identify(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if _, err := read("unknown", "main.go"); err == nil {
		t.Error("a file without a license is accepted")
	}
}
