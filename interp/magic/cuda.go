package magic

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

const cudaName = "%%cuda"

// cudaCell is for the table; prepareCUDA prepares it.
var cudaCell = command{
	name: cudaName, usage: "%%cuda [flags]", doc: "compiles the rest of the cell as CUDA C++; its kernels become variables",
}

// CUDA is a program in CUDA C++.
type CUDA struct {
	Source string // the text of the cell
	Line   int    // of the text in the cell
	Flags  []string
	Offset int // of the command
	// Names are those of the variables: of the kernels that the text declares, as far as that can be seen without a compiler, and then of
	// those that the compiler has found.
	Names   []string
	number  int                      // of the command
	kernels map[string]reflect.Value // pointers to the kernels, by their names
}

// prepareCUDA returns the program of a command, and the action that sets the variables of its kernels.
func prepareCUDA(l line, src string, number int) (*CUDA, action, error) {
	if strings.TrimSpace(l.text) == "" {
		return nil, nil, errNoKernel
	}
	c := &CUDA{Source: l.text, Line: 2 + strings.Count(src[:l.start], "\n"), Flags: strings.Fields(l.behind), Offset: l.start, number: number}
	c.Names = slices.DeleteFunc(globalFunctions(l.text), func(name string) bool { return noVariable(name) != "" })
	return c, func(_ context.Context, _ *Run, values []any) error {
		for i, name := range c.Names {
			reflect.ValueOf(values[i]).Elem().Set(c.kernels[name])
		}
		return nil
	}, nil
}

var errNoKernel = errors.New("%%cuda needs a kernel in the lines below it: __global__ void name(…) { … }")

// noVariable says why a kernel with a name cannot be a variable; "" if it can be one.
func noVariable(name string) string {
	switch {
	case token.IsKeyword(name):
		return "its name is a keyword of Go"
	case name == "kernel" || name == "ctx":
		return "the name is that of a package or of the cell's context"
	case name == "init" || name == "main" || name == "_":
		return "the name has a meaning of its own in Go"
	case !token.IsIdentifier(name):
		return "it is in a namespace or of a template; use kernel.CompileCUDA"
	}
	return ""
}

// call returns the declarations of the variables of the kernels, and the call that sets them.
func (c *CUDA) call() string {
	if len(c.Names) == 0 {
		return fmt.Sprintf("%s(%d)", Name, c.number)
	}
	names := strings.Join(c.Names, ", ")
	return fmt.Sprintf("var %s *kernel.Kernel;%s(%d, &%s)", names, Name, c.number, strings.ReplaceAll(names, ", ", ", &"))
}

// SetKernels sets the kernels that the compiler has found in the text of %%cuda, pointers by their names, and makes them the variables of the cell.
// Kernels in namespaces and of templates, which have no names of Go, become none. It fails if no kernel is left, or one has a name with
// another meaning in Go.
func (c *Cell) SetKernels(kernels map[string]reflect.Value) error {
	own := c.CUDA
	before := own.call()
	own.kernels, own.Names = kernels, nil
	var without []string
	for _, name := range slices.Sorted(maps.Keys(kernels)) {
		switch why := noVariable(name); {
		case why == "":
			own.Names = append(own.Names, name)
		case token.IsIdentifier(name) || token.IsKeyword(name):
			return fmt.Errorf("the kernel %s cannot be a variable: %s", name, why)
		default:
			without = append(without, fmt.Sprintf("the kernel %s cannot be a variable: %s", name, why))
		}
	}
	switch {
	case len(own.Names) > 0:
	case len(without) > 0:
		return errors.New(strings.Join(without, "\n"))
	default:
		return fmt.Errorf("%w; the compiler has found none", errNoKernel)
	}
	c.Source = strings.TrimSuffix(c.Source, before) + own.call() // the command is the end of its cell
	return nil
}

var (
	// cudaText matches comments, texts and characters of C++.
	cudaText = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	// globalFunction matches the beginning of a kernel up to its name, which may have attributes before it.
	globalFunction = regexp.MustCompile(`\b__global__\b((?:\s|\b\w+\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*|\b\w+\b)*?)\b(\w+)\s*\(`)
	templateHead   = regexp.MustCompile(`\btemplate\b[^;{}]*$`)
)

// globalFunctions returns the names of the kernels of a program, apart from those of templates.
func globalFunctions(text string) []string {
	text = cudaText.ReplaceAllString(text, " ")
	var names []string
	for _, m := range globalFunction.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[4]:m[5]]
		// An attribute such as __launch_bounds__(256) is not the name.
		for strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") {
			rest := text[m[5]:]
			end := closing(rest)
			next := attributeOrName.FindStringSubmatch(rest[end:])
			if next == nil {
				name = ""
				break
			}
			name = next[1]
			m[5] += end + strings.Index(rest[end:], next[1]) + len(next[1])
		}
		if name != "" && !templateHead.MatchString(text[:m[0]]) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var attributeOrName = regexp.MustCompile(`^\s*(?:void\s+)?(\w+)\s*\(`)

// closing returns the offset behind the parenthesis that closes the first one.
func closing(text string) int {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
