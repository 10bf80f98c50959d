package onnx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// notExported are the functions that return a tensor or a module, but have no row in parities,
// with the reason.
var notExported = map[string]string{
	"tensor.New": "a constant", "tensor.FromFloat64s": "a constant", "tensor.FromInts": "a constant",
	"tensor.FromBytes": "a constant", "tensor.FromRaw": "a constant", "tensor.Zeros": "a constant", "tensor.Arange": "a constant",
	"tensor.Ones": "a constant", "tensor.Full": "a constant", "tensor.Parameter": "a constant",
	"tensor.Linspace": "a constant", "tensor.Eye": "a constant",
	"tensor.RandInt": "random, as Randn", "tensor.RandPerm": "random, as Randn", "tensor.Multinomial": "random, as Randn",
	"tensor.Randn": "random: refused, see TestRefusals", "tensor.Uniform": "random, as Randn",
	"tensor.Grad": "a gradient: refused, see TestRefusals",
	"nn.Add":      "a method of SequentialLayer", "nn.CrossEntropy": "tensor.CrossEntropy", "nn.MSE": "tensor.MSE",
	"nn.CTC": "it reads its labels and lengths", "nn.Attend": "a method of modules with several inputs", "nn.Decode": "as Attend", "nn.Encode": "as Attend",
	"nn.Positions": "integers", "nn.Change": "a method of an adapter of LoRA, which Merge removes",
	"tensor.AttentionWeights": "in training with dropout, and to look at them", "tensor.Lengths": "what WithLengths has set",
	"tensor.Positions": "what WithPositions has set",
	"nn.Forward":       "a method of a module", "nn.Tensor": "a constant, read from a file",
}

// TestEverythingHasARow checks that each function of packages nn and tensor that returns a module
// or a tensor has a row in parities.
func TestEverythingHasARow(t *testing.T) {
	covered := map[string]bool{}
	for _, p := range parities() {
		for _, name := range p.covers {
			if !strings.Contains(name, ".") {
				name = "nn." + name
			}
			covered[name] = true
		}
	}
	found := map[string]bool{}
	for name, results := range map[string][]string{
		"nn":     {"Module", "*SequentialLayer", "*DenseLayer", "*Conv2DLayer", "*RecurrentLayer", "*Tensor"},
		"tensor": {"*Tensor"},
	} {
		for _, f := range functions(t, filepath.Join("..", name)) {
			if gives(f, results) {
				found[name+"."+f.Name.Name] = true
			}
		}
	}
	if len(found) < 100 {
		t.Fatalf("only %d functions were found", len(found))
	}
	for name := range found {
		switch why := notExported[name]; {
		case covered[name] && why != "":
			t.Errorf("%s has a row, and yet is said to be %s", name, why)
		case !covered[name] && why == "":
			t.Errorf("%s has no row among the parities, and no reason why it is not exported", name)
		}
	}
	for name := range covered {
		if !found[name] {
			t.Errorf("%s has a row and is not there", name)
		}
	}
	for name := range notExported {
		if !found[name] {
			t.Errorf("%s is not there", name)
		}
	}
}

// functions returns the exported functions and methods of a package.
func functions(t *testing.T, folder string) []*ast.FuncDecl {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	var all []*ast.FuncDecl
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				all = append(all, f)
			}
		}
	}
	return all
}

// gives reports whether a function returns one of these types.
func gives(f *ast.FuncDecl, types []string) bool {
	if f.Type.Results == nil {
		return false
	}
	for _, r := range f.Type.Results.List {
		name := ""
		switch x := r.Type.(type) {
		case *ast.Ident:
			name = x.Name
		case *ast.StarExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				name = "*" + id.Name
			}
		}
		if slices.Contains(types, name) {
			return true
		}
	}
	return false
}
