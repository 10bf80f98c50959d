package magic

import (
	"context"
	"errors"
	"fmt"
	"go/token"
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
	Offset int      // of the command
	Names  []string // of its kernels, in the order of the text
	// Kernels are pointers to the kernels, by their names. The session sets them.
	Kernels map[string]reflect.Value
}

// prepareCUDA returns the program of a command, and the action that sets the variables of its kernels.
func prepareCUDA(l line, src string) (*CUDA, action, error) {
	c := &CUDA{
		Source: l.text, Line: 2 + strings.Count(src[:l.start], "\n"), Flags: strings.Fields(l.behind), Offset: l.start, Names: globalFunctions(l.text),
	}
	if len(c.Names) == 0 {
		return nil, nil, errors.New("%%cuda needs a kernel in the lines below it: __global__ void name(…) { … }")
	}
	for _, name := range c.Names {
		switch {
		case token.IsKeyword(name):
			return nil, nil, fmt.Errorf("the kernel %s cannot be a variable: its name is a keyword of Go", name)
		case name == "kernel" || name == "ctx":
			return nil, nil, fmt.Errorf("the kernel %s cannot be a variable: the name is that of a package or of the cell's context", name)
		}
	}
	return c, func(_ context.Context, _ *Run, values []any) error {
		for i, name := range c.Names {
			k, ok := c.Kernels[name]
			if !ok {
				return fmt.Errorf("%%%%cuda: the compiler has made no kernel %s: a kernel in a namespace or of a template cannot be a variable; use kernel.CompileCUDA", name)
			}
			reflect.ValueOf(values[i]).Elem().Set(k)
		}
		return nil
	}, nil
}

// declarations declares the variables of the kernels and returns the arguments of the command.
func (c *CUDA) declarations() (declarations, arguments string) {
	return "var " + strings.Join(c.Names, ", ") + " *kernel.Kernel;", ", &" + strings.Join(c.Names, ", &")
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
