// Package generic has bodies for the generic functions and types of the standard library.
//
// Package reflect, and so a table of compiled symbols, cannot hold what is generic: slices.SortFunc, maps.Keys,
// atomic.Pointer[T] exist for the interpreter only as source that it instantiates. Each folder below this one is such a source: a
// real Go package, interp/generic/slices for slices, with the exported generic API of the standard package and
// nothing else exported. They are written from the documented behaviour, and tested against the package that they stand for.
//
// # How the front end uses it
//
// A cell is checked against the types of the true standard package (symbols.Importer). When it uses a generic function or
// type of it, the front end asks [Source] for the files, checks them as a package of the same import path, and takes
// the object of the same name: its type parameters and signature are the same, its methods too. From then on it is
// generic code like that of a cell. Rules that the sources keep, so that this works:
//
//   - Imports are of standard packages, compiled or again generic here, and of package compiled. A source may import
//     the very package that it stands for, to call what is not generic in it (math/rand/v2.N calls rand.Uint64N).
//   - No package variables, no init, no methods but those of the standard type, no unsafe, no cgo, no goto, no labels.
//   - A value of an unknown type goes to package compiled as reflect.ValueOf(x), never as any: the interpreter
//     passes plain values to package reflect, but boxes those of its own types everywhere else. The exception is where the box
//     is wanted, for comparing values with their types (unique.Make).
//
// # Package compiled
//
// Loops cost the interpreter some fifty times what they cost compiled code. So where the work needs no function of the
// cell, a body hands it to interp/generic/compiled, which is not generic and has symbols like any package
// (symbols.Packages, symbols.Importer know it; symbols.Paths does not offer it to users).
//
// # What has no body
//
// weak.Pointer, weak.Make and runtime.AddCleanup (the interpreter keeps values alive longer than compiled code, so that
// what they promise would not hold). A use of them is refused.
package generic
