package plots

import (
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// pinned compares the SVG of a figure with testdata/name.svg, and draws the
// PNG. Look at the new file in a browser before you update it.
func pinned(t *testing.T, name string, f *Figure) {
	t.Helper()
	sane(t, f)
	golden.Check(t, name+".svg", []byte(f.SVG()))
}
