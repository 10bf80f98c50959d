package structure

import (
	"go/parser"
	"strconv"
	"strings"
	"testing"
)

// A direction says which packages of the module the packages of a tree may import besides
// those of the tree. The longest matching tree applies.
type direction struct {
	tree string
	may  []string
}

var directions = []direction{
	// The kernel and the worker only share kernel/link.
	{"kernel", []string{"gpu", "internal/atomicfile", "internal/failpoint"}},
	{"interp", []string{"check", "display", "internal/atomicfile", "internal/failpoint", "internal/quantity", "internal/secret", "internal/trust"}},
	// Only this tree imports the packages that are compiled in for cells.
	{"interp/symbols/internal/own", []string{"accel", "check", "display", "gpu", "interp", "plots", "widgets"}},
	{"interp/generic/github.com/quernlab/quern/accel/kernel", []string{"accel/kernel"}},
	{"interp/generic/github.com/quernlab/quern/check", []string{"check"}},
	{"interp/generic/github.com/quernlab/quern/widgets/progress", []string{"widgets/progress"}},
	// Packages for users do not depend on Jupyter.
	{"accel", []string{"display", "gpu", "internal/atomicfile", "internal/failpoint", "internal/picture", "internal/quantity", "internal/secret", "internal/tableview", "internal/trust", "plots"}},
	{"accel/internal", []string{"accel/tensor", "display", "internal/loader", "internal/quantity", "internal/trust"}},
	{"accel/internal/training/architecture", []string{"accel/nn"}},
	{"accel/internal/training/loop", []string{"accel", "display", "gpu", "internal/atomicfile", "internal/failpoint", "internal/quantity"}},
	{"accel/internal/training/trials", []string{"accel"}},
	{"accel/internal/engine", []string{"accel/internal/engine"}},
	{"accel/prof/internal/nvtx", []string{"internal/loader", "internal/trust"}},
	{"accel/internal/cpu", []string{"accel/internal"}},
	{"accel/internal/cuda", []string{"accel/internal", "internal/atomicfile", "internal/loader", "internal/trust"}},
	{"accel/internal/cuda/library/librarytest", []string{"accel/internal", "internal/testenv"}},
	{"gpu", []string{"internal/loader", "plots"}},
	{"plots", []string{"display", "internal/picture", "internal/quantity"}},
	{"check", nil},
	{"display", []string{"internal/quantity", "internal/tableview"}},
	{"widgets", []string{"display"}},
	{"widgets/labeling", []string{"accel/active", "display", "widgets", "widgets/comm"}},
	{"install", []string{"internal/atomicfile", "internal/failpoint"}},
	// Programs.
	{"accel/bench", []string{"accel", "display", "gpu", "internal/atomicfile"}},
	{"accel/gpucheck", []string{"accel", "gpu", "internal/loader", "internal/quantity", "internal/trust"}},
	{"examples", []string{"accel"}},
	{"cmd", []string{"accel", "display", "gpu", "install", "internal/atomicfile", "internal/notices", "internal/quantity", "interp", "kernel", "widgets"}},
	{"docs/site", []string{"kernel/notebook"}},
	{"docs/animation", []string{"accel", "display"}},
	{"internal", nil},
}

// fences are modules that only some trees may import.
var fences = map[string][]string{
	"github.com/go-zeromq/zmq4":       {"kernel/transport"},
	"github.com/traefik/yaegi":        {"interp/lower", "interp/symbols", "interp/yaegi"},
	"github.com/NVIDIA/go-nvml":       {"gpu"},
	"gonum.org/v1/plot":               {"plots", "interp/symbols"},
	"google.golang.org/protobuf":      {"accel/history", "accel/internal/tfrecord", "accel/onnx"},
	"github.com/rogpeppe/go-internal": {"internal/golden"},
}

func TestImports(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range files(t, parser.ImportsOnly) {
		for _, spec := range f.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if own, ok := strings.CutPrefix(imported, modulePath); ok {
				d := directionOf(f.folder)
				used[d.tree] = true
				if !within(own, d.tree) && !withinAny(own, d.may) {
					t.Errorf("%s: %s may not import %s", f.position(spec), d.tree, own)
				}
				continue
			}
			for module, trees := range fences {
				if within(imported, module) {
					used[module] = true
					if !withinAny(f.folder, trees) {
						t.Errorf("%s: only %s may import %s", f.position(spec), strings.Join(trees, " and "), imported)
					}
				}
			}
		}
	}
	for _, d := range directions {
		if len(d.may) > 0 && !used[d.tree] {
			t.Errorf("nothing in %s imports anything of the module: is it still there?", d.tree)
		}
	}
	for module := range fences {
		if !used[module] {
			t.Errorf("nothing imports %s", module)
		}
	}
}

// directionOf returns the direction of the longest tree with a folder. A folder without a
// rule may import nothing.
func directionOf(folder string) direction {
	best := direction{tree: folder}
	for _, d := range directions {
		if within(folder, d.tree) && (best.tree == folder || len(d.tree) > len(best.tree)) {
			best = d
		}
	}
	return best
}

func within(path, tree string) bool { return path == tree || strings.HasPrefix(path, tree+"/") }

func withinAny(path string, trees []string) bool {
	for _, tree := range trees {
		if within(path, tree) {
			return true
		}
	}
	return false
}
