package symbols_test

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/symbols"
)

func TestDoc(t *testing.T) {
	tests := []struct{ path, name, want string }{
		{"fmt", "", "Package fmt implements formatted I/O"},
		{"fmt", "Println", "Println formats using the default formats"},
		{"fmt", "Stringer.String", ""},
		{"strings", "Builder", "A Builder is used to efficiently build a string"},
		{"strings", "Builder.Len", "Len returns the number of accumulated bytes"},
		{"net/http", "Server.Addr", "Addr optionally specifies the TCP address"},
		{"net/http", "StatusNotFound", "RFC 9110, 15.5.5"},
		{"io", "EOF", "EOF is the error returned by Read"},
		{"sort", "Interface.Less", "Less reports whether the element with index i"},
		{"slices", "SortFunc", "SortFunc sorts the slice x"},
		{"sync/atomic", "Pointer.Load", "Load atomically loads"},
		{"unsafe", "Sizeof", "Sizeof takes an expression"},
		{"testing", "T.Errorf", "Errorf is equivalent to Logf"},
		{"github.com/quernlab/quern/plots", "Scatters", "Scatters draws several series as dots"},
		{"syscall", "Getpid", ""},
		{"fmt", "Nothing", ""},
		{"nothing", "Println", ""},
	}
	for _, test := range tests {
		got := symbols.Doc(test.path, test.name)
		if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("Doc(%q, %q) = %q, want %q…", test.path, test.name, got, test.want)
		}
		if strings.Contains(got, "\n") || len(got) > 1000 {
			t.Errorf("Doc(%q, %q) is not short: %q", test.path, test.name, got)
		}
	}
}

// The documentation of our own packages is whole: it says what options do and what is returned.
func TestDocOfOurPackages(t *testing.T) {
	got := symbols.Doc("github.com/quernlab/quern/accel", "Fit")
	for _, want := range []string{"Fit trains a model", "\n\n", "DivergedError"} {
		if !strings.Contains(got, want) {
			t.Errorf("the documentation of accel.Fit has no %q: %q", want, got)
		}
	}
	if got := symbols.Doc("github.com/quernlab/quern/plots", "Live"); !strings.Contains(got, "\n    live := plots.NewLive(ctx)\n") {
		t.Errorf("the documentation of plots.Live has no example: %q", got)
	}
}
