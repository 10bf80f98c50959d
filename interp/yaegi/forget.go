package yaegi

import (
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/lower"
)

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
