package yaegi

import (
	"fmt"
	"go/token"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/lower"
)

// An Interpreter evaluates declarations of variables, and owns the variables. One evaluation runs at a time, and others wait for it.
type Interpreter struct {
	yaegi *upstream.Interpreter
	mu    sync.Mutex // held during an evaluation
}

// New returns an interpreter.
func New(stdin io.Reader, stdout, stderr io.Writer) *Interpreter {
	return &Interpreter{yaegi: upstream.New(upstream.Options{Stdin: stdin, Stdout: stdout, Stderr: stderr, Unrestricted: true})}
}

// Use adds symbols to packages, keyed "path/name".
func (i *Interpreter) Use(packages map[string]map[string]reflect.Value) error {
	return i.yaegi.Use(packages)
}

// Eval evaluates declarations or one expression. The error is an *Error.
func (i *Interpreter) Eval(src string) (v reflect.Value, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	defer func() {
		// The compiler of yaegi panics on what it does not expect.
		if r := recover(); r != nil {
			err = &Error{fmt.Sprint(r)}
		}
	}()
	if v, err = i.yaegi.Eval(src); err != nil {
		return v, &Error{err.Error()}
	}
	return v, nil
}

// Address returns the address of a declared variable. An evaluation of "&name" would
// make the frame of global variables larger, which copies all of them.
func (i *Interpreter) Address(variable string) (reflect.Value, error) {
	v := reflect.ValueOf(i.yaegi).Elem()
	if main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main")); main.IsValid() {
		symbol := accessible(main.Elem(), "sym").MapIndex(reflect.ValueOf(variable))
		if symbol.IsValid() && accessible(symbol.Elem(), "kind").Uint() == varSym {
			index := int(accessible(symbol.Elem(), "index").Int())
			data := accessible(accessible(v, "frame").Elem(), "data").Interface().([]reflect.Value)
			if index >= 0 && index < len(data) && data[index].CanAddr() {
				return data[index].Addr(), nil
			}
		}
	}
	return i.Eval("&" + variable)
}

// varSym is the kind of the symbols of variables.
var varSym = func() uint64 {
	t := field(field(field(reflect.TypeFor[upstream.Interpreter](), "universe").Elem(), "sym").Elem().Elem(), "kind")
	v := reflect.New(t).Elem()
	for i := range uint64(256) {
		v.SetUint(i)
		if s, ok := v.Interface().(interface{ String() string }); ok && s.String() == "varSym" {
			return i
		}
	}
	return ^uint64(0)
}()

func field(t reflect.Type, name string) reflect.Type {
	f, _ := t.FieldByName(name)
	return f.Type
}

// accessible returns a field of v, which may be unexported, as one that can be read
// and set.
func accessible(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// An Error reports a bug of the interpreter: it rejects lowered code that is valid Go.
type Error struct {
	// Reason is the message of the interpreter.
	Reason string
}

func (e *Error) Error() string {
	return "the interpreter rejects lowered code: " + e.Reason
}

// Forget drops the syntax trees of all evaluations. Yaegi keeps them only for its debugger; without Forget they would be most of
// the memory of a long session.
func (i *Interpreter) Forget() {
	v := reflect.ValueOf(i.yaegi).Elem()
	roots := accessible(v, "roots")
	for k := range roots.Len() {
		separate(roots.Index(k))
	}
	roots.SetZero()
	i.removeFiles()
	if main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main")); main.IsValid() {
		accessible(main.Elem(), "child").SetZero()
	}
}

// Keep drops all variables, and types of variables, whose names are not in known. Code of cells holds what it uses itself. No
// evaluation may be running.
//
// Yaegi never shrinks the frame of global variables, in which each variable and each
// temporary value of an evaluation has an index; Keep drops the values there.
func (i *Interpreter) Keep(known map[string]bool) {
	v := reflect.ValueOf(i.yaegi).Elem()
	main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main"))
	if !main.IsValid() {
		return
	}
	symbols := accessible(main.Elem(), "sym")
	used := map[int]bool{}
	for entries := symbols.MapRange(); entries.Next(); {
		name, symbol := entries.Key().String(), entries.Value().Elem()
		if strings.Contains(name, "ʹ") && !strings.Contains(name, "/") && !known[name] && name != lower.TypesName {
			symbols.SetMapIndex(entries.Key(), reflect.Value{})
		} else if accessible(symbol, "kind").Uint() == varSym {
			used[int(accessible(symbol, "index").Int())] = true
		}
	}
	if table := accessible(v, "binPkg").MapIndex(reflect.ValueOf(lower.TypesPath)); table.IsValid() {
		for _, name := range table.MapKeys() {
			if !known[name.String()] {
				table.SetMapIndex(name, reflect.Value{})
			}
		}
	}
	frame := accessible(v, "frame").Elem()
	mutex := accessible(frame, "mutex").Addr().Interface().(*sync.RWMutex)
	mutex.Lock()
	defer mutex.Unlock()
	data := accessible(frame, "data").Addr().Interface().(*[]reflect.Value)
	kept := slices.Clone(*data)
	for k := range kept {
		if !used[k] {
			kept[k] = reflect.Value{}
		}
	}
	*data = kept
}

// removeFiles removes the line tables of all evaluations. Yaegi needs them only while it
// compiles, and for messages that are not shown.
func (i *Interpreter) removeFiles() {
	set := i.yaegi.FileSet()
	var files []*token.File
	set.Iterate(func(f *token.File) bool {
		files = append(files, f)
		return true
	})
	for _, f := range files {
		set.RemoveFile(f)
	}
}

// separate detaches the declarations of an evaluation from each other: a symbol keeps
// its own syntax tree, and would keep those of all others through the common ancestor.
func separate(root reflect.Value) {
	children := accessible(root.Elem(), "child")
	for i := range children.Len() {
		accessible(children.Index(i).Elem(), "anc").SetZero()
	}
}
