package compile

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// An Error is what is wrong at a position of a kernel's source.
type Error struct {
	Pos  token.Position
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Text) }

// fileName is the name of the file, unless it has line directives.
const fileName = "kernel.go"

// Compile compiles the function with a name in a Go file. api is the source of package kernel. Errors in the source are an *Error
// each, joined.
func Compile(source, name, api string) (p *program.Program, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, fileName, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	im, err := newImporter(api)
	if err != nil {
		return nil, err
	}
	im.prune(file, name)
	var wrong []error
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Implicits: map[ast.Node]types.Object{},
	}
	config := types.Config{Importer: im, Sizes: &types.StdSizes{WordSize: 8, MaxAlign: 8}, Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok {
			wrong = append(wrong, &Error{fset.Position(e.Pos), explain(e.Msg)})
		}
	}}
	if _, err := config.Check("main", fset, []*ast.File{file}, info); err != nil {
		return nil, errors.Join(wrong...)
	}
	c := &compiler{fset: fset, info: info, functions: map[*types.Func]*ast.FuncDecl{}, specials: map[program.SpecialValue]program.Operand{}}
	var entry *ast.FuncDecl
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if o, ok := info.Defs[f.Name].(*types.Func); ok {
				c.functions[o] = f
			}
			if f.Name.Name == name && f.Recv == nil {
				entry = f
			}
		}
	}
	if entry == nil {
		return nil, fmt.Errorf("the source declares no function %s", name)
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			p, err = nil, r
		default:
			panic(r)
		}
	}()
	return c.kernel(entry), nil
}

// explain adds what is particular to kernels to an error of the type checker.
func explain(text string) string {
	if strings.HasPrefix(text, "undefined: math.") {
		return text + ": a kernel can call these functions of package math: " + strings.Join(mathFunctions(), ", ")
	}
	if strings.HasPrefix(text, "undefined: ") {
		return text + ": a kernel can use functions, types and constants that are declared outside of it, and the packages math and kernel; pass variables as arguments"
	}
	return text
}

// compiler compiles one kernel.
type compiler struct {
	fset      *token.FileSet
	info      *types.Info
	functions map[*types.Func]*ast.FuncDecl
	program   *program.Program
	specials  map[program.SpecialValue]program.Operand
	prologue  []program.Stmt
	out       *[]program.Stmt // where instructions are appended
	at        token.Pos       // of the statement or expression that is compiled
	frame     *frame
	unrolled  int // iterations of the unrolled loops around the statement
	inlined   int // calls so far
}

// frame is a function that is compiled in place of a call of it.
type frame struct {
	caller    *frame
	function  *types.Func
	block     *program.Block
	results   []value
	arguments map[*types.TypeParam]types.Type
	variables map[types.Object]value
	targets   []*target
}

// fail ends the compilation with an error at a node.
func (c *compiler) fail(at ast.Node, format string, args ...any) {
	panic(&Error{c.fset.Position(at.Pos()), fmt.Sprintf(format, args...)})
}

// kernel compiles the function that is the kernel.
func (c *compiler) kernel(f *ast.FuncDecl) *program.Program {
	o := c.info.Defs[f.Name].(*types.Func)
	sig := o.Signature()
	p := &program.Program{Name: f.Name.Name, Pos: c.fset.Position(f.Name.Pos()), Body: &program.Block{}}
	c.program, c.out, c.at, c.unrolled = p, &p.Body.Body, f.Pos(), 1
	switch {
	case f.Body == nil:
		c.fail(f, "the kernel %s has no body", p.Name)
	case sig.TypeParams().Len() > 0:
		c.fail(f.Name, "the kernel %s has type parameters: declare a function without them that calls it", p.Name)
	case sig.Results().Len() > 0:
		c.fail(f.Type.Results, "a kernel returns nothing: it writes its results to slices")
	case sig.Variadic():
		c.fail(f.Type.Params, "a kernel cannot be variadic")
	case sig.Params().Len() == 0 || !isThread(sig.Params().At(0).Type()):
		c.fail(f.Type.Params, "the first parameter of a kernel is a kernel.Thread")
	}
	c.frame = &frame{function: o, block: p.Body, variables: map[types.Object]value{}}
	for i := 1; i < sig.Params().Len(); i++ {
		v := sig.Params().At(i)
		c.frame.variables[v] = c.parameter(f, v)
	}
	c.frame.variables[sig.Params().At(0)] = thread{}
	c.statements(f.Body.List)
	p.Body.Body = append(c.prologue, p.Body.Body...)
	promote(p)
	limits(p)
	return p
}

// limits fails if the arrays of a kernel are too large.
func limits(p *program.Program) {
	if n, over := p.Bytes(program.Shared, program.MaxSharedBytes); over != nil {
		panic(&Error{over.Pos, fmt.Sprintf("the shared arrays of %s have %d bytes, a block can have %d", p.Name, n, program.MaxSharedBytes)})
	}
	if n, over := p.Bytes(program.Local, program.MaxLocalBytes); over != nil {
		panic(&Error{over.Pos, fmt.Sprintf("the arrays of a thread of %s have %d bytes, with those of the functions that it calls; a thread can have %d", p.Name, n, program.MaxLocalBytes)})
	}
}

// noTensor are the types that tensors do not have, and what to use instead.
var noTensor = map[program.Type]string{
	program.Int8: "a []uint8, of which int8(x[i]) has the same bits", program.Int16: "a []int32", program.Uint16: "a []int32",
	program.Uint32: "a []int32, of which uint32(x[i]) has the same bits", program.Uint64: "a []int64, of which uint64(x[i]) has the same bits",
}

// parameter declares a parameter of the kernel.
func (c *compiler) parameter(f *ast.FuncDecl, v *types.Var) value {
	at := ast.Node(f.Type.Params)
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if c.info.Defs[name] == v {
				at = field
			}
		}
	}
	if formatOf(v.Type()) != program.Plain {
		c.fail(at, "a parameter of type %s is not supported: pass a float32", types.TypeString(v.Type(), (*types.Package).Name))
	}
	if t, ok := c.scalarType(v.Type()); ok {
		x := c.newVar(t)
		c.program.Params = append(c.program.Params, program.Param{Name: v.Name(), Scalar: x.Var})
		return x
	}
	s, ok := v.Type().Underlying().(*types.Slice)
	if !ok {
		c.fail(at, "a parameter of type %s is not supported: a kernel takes numbers, bools and slices of them", types.TypeString(v.Type(), (*types.Package).Name))
	}
	elem, ok := c.scalarType(s.Elem())
	if !ok {
		c.fail(at, "a slice of %s is not supported: the elements of a tensor are numbers or bools", types.TypeString(s.Elem(), (*types.Package).Name))
	}
	if like, ok := noTensor[elem]; ok && formatOf(s.Elem()) == program.Plain {
		c.fail(at, "a slice of %s is not supported: no tensor has such elements; take %s", types.TypeString(s.Elem(), (*types.Package).Name), like)
	}
	length := c.newVar(program.Int64)
	m := c.newMemory(v.Name(), program.Global, elem, 0)
	m.Param, m.Format = len(c.program.Params), formatOf(s.Elem())
	c.program.Params = append(c.program.Params, program.Param{Name: v.Name(), Slice: m, Len: length.Var})
	// A variable of its own, because the kernel may assign to the parameter.
	return c.copySlice(slice{&backing{memory: m}, program.Int(0), length, length})
}
