package check

import (
	"slices"
	"testing"
)

func TestClosest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"Printn", []string{"Print", "Printf", "Println", "Sprintf"}, "Println"},
		{"Pritnln", []string{"Print", "Printf", "Println"}, "Println"},
		{"MaxPool2D", []string{"AvgPool", "MaxPool", "Conv2D"}, "MaxPool"},
		{"totla", []string{"total", "local"}, "total"},
		{"fnt", []string{"fmt", "net"}, "fmt"},
		{"Total", []string{"total"}, "total"},
		{"z", []string{"x", "y"}, ""},
		{"ab", []string{"abc"}, ""},
		{"rate", []string{"total", "loss"}, ""},
		{"same", []string{"same"}, ""},
		{"count", nil, ""},
	} {
		if got := closest(row.name, slices.Values(row.candidates)); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
