// Package architecture describes the layers of a model, so that ranks can compare their models before they compute together. A
// comparison of tensors alone would not notice another activation or another dropout.
package architecture

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/quernlab/quern/accel/nn"
)

// Layers returns a text of each layer of a model, with its name; the arguments of layers of package nn are in it.
func Layers(model any) (all []string) {
	for _, m := range nn.NamedModules(model) {
		text := fmt.Sprintf("%T", m.Module)
		if s, ok := m.Module.(fmt.Stringer); ok && inPackageNN(m.Module) {
			text = s.String()
		}
		all = append(all, fmt.Sprintf("%q %s", m.Name, text))
	}
	return all
}

// Difference describes how the layers of a rank differ from those of rank 0; "" if they do not.
func Difference(mine, first []string) string {
	if len(mine) != len(first) {
		return fmt.Sprintf("it has %d layers, but rank 0 has %d", len(mine), len(first))
	}
	for i := len(mine) - 1; i >= 0; i-- { // inner layers last: they name the difference best
		if mine[i] != first[i] {
			here, there := shortDifference(mine[i], first[i])
			return fmt.Sprintf("its layer %s is %s on rank 0", here, there)
		}
	}
	return ""
}

// shortDifference shortens two texts to the part around their first difference.
func shortDifference(a, b string) (string, string) {
	const before, most = 20, 80
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(s string) string {
		if from := same - before; from > before {
			s = "…" + strings.ToValidUTF8(s[from:], "")
		}
		if len(s) > most {
			s = strings.ToValidUTF8(s[:most], "") + "…"
		}
		return s
	}
	return cut(a), cut(b)
}

// inPackageNN reports whether a layer is of package nn, whose String describes it.
func inPackageNN(m nn.Module) bool {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == reflect.TypeFor[nn.Parameter]().PkgPath()
}
