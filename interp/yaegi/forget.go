package yaegi

import (
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/lower"
)

// Forget drops functions that will not be called by name again, the syntax trees of all
// evaluations, and the scopes of all functions. Yaegi keeps syntax trees and scopes only
// for its debugger; without Forget they would be most of the memory of a long session.
func (i *Interpreter) Forget(functions ...string) {
	v := reflect.ValueOf(i.yaegi).Elem()
	roots := accessible(v, "roots")
	for k := range roots.Len() {
		separate(roots.Index(k))
	}
	roots.SetZero()
	i.removeFiles()
	main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main"))
	if !main.IsValid() {
		return
	}
	accessible(main.Elem(), "child").SetZero()
	symbols := accessible(main.Elem(), "sym")
	for _, name := range functions {
		symbols.SetMapIndex(reflect.ValueOf(name), reflect.Value{})
	}
}

// Keep drops all functions, types and variables of lowered code whose names are not
// in known. The values of variables in mentioned stay for the code that uses them.
// No evaluation may be running.
//
// Yaegi never shrinks the frame of global variables, in which each variable and each
// temporary value of an evaluation has an index; Keep drops the values there.
func (i *Interpreter) Keep(known, mentioned map[string]bool) {
	v := reflect.ValueOf(i.yaegi).Elem()
	main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main"))
	if !main.IsValid() {
		return
	}
	symbols := accessible(main.Elem(), "sym")
	used := map[int]bool{}
	for entries := symbols.MapRange(); entries.Next(); {
		name := entries.Key().String()
		index := -1
		if symbol := entries.Value().Elem(); accessible(symbol, "kind").Uint() == varSym {
			index = int(accessible(symbol, "index").Int())
			used[index] = true
		}
		short := strings.TrimSuffix(name, "ʹm")
		if !strings.Contains(name, "ʹ") || strings.Contains(name, "/") || known[short] || name == "stopʹ" || name == "positionʹ" {
			continue
		}
		if index >= 0 && !mentioned[name] {
			delete(used, index)
		}
		symbols.SetMapIndex(entries.Key(), reflect.Value{})
		if index >= 0 && mentioned[name] {
			i.lasting[index] = true
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
	// Running code may hold the old slice.
	kept := slices.Clone(*data)
	for k := range kept {
		if !used[k] && !i.lasting[k] {
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
