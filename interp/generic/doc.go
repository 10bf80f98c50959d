// Package generic contains source code for the generic functions and types of the standard library.
//
// Package reflect, and therefore a table of compiled symbols, cannot hold generic functions and types: the interpreter needs
// the source of slices.SortFunc, maps.Keys or atomic.Pointer[T] to instantiate it. Each folder below this one is a Go package
// with such source, for example interp/generic/slices for slices. It exports the generic API of the standard package and
// nothing else. The sources are written from the documented behaviour, and tested against the standard package.
//
// # How the front end uses it
//
// A cell is checked against the types of the standard package (symbols.Importer). If the cell uses a generic function or type
// of it, the front end gets the files from [Source], checks them as a package with the same import path, and uses the object
// with the same name, which has the same type parameters, signature and methods. From then on it is generic code like that of
// a cell. For this to work, the sources follow these rules:
//
//   - They import only standard packages, compiled or from here, and package compiled. A source may import the standard package
//     that it replaces, to call functions that are not generic (math/rand/v2.N calls rand.Uint64N).
//   - No package variables, no init, no methods except those of the standard type, no cgo, no goto, no labels.
//   - Of package unsafe, only unsafe.Pointer, for functions of the standard package such as atomic.LoadPointer.
//   - A value of an unknown type is passed to package compiled as reflect.ValueOf(x), never as any: the interpreter passes plain
//     values to package reflect, but boxes values of interpreted types everywhere else (see package rt). The exception is
//     unique.Make, where the box is needed to compare values together with their types.
//
// # Package compiled
//
// A loop takes the interpreter about fifty times as long as compiled code. So work that calls no function of the cell is done
// by interp/generic/compiled, which is not generic and has symbols like any other package (symbols.Packages and
// symbols.Importer contain it; symbols.Paths does not offer it to users).
//
// # Weak pointers and cleanups
//
// A weak.Pointer keeps its object alive, and the function of runtime.AddCleanup may never run. The interpreter keeps values alive
// longer than compiled code, and the documentation allows both: "Value is not guaranteed to eventually return nil", and a cleanup
// "is not guaranteed to run". A cache of weak pointers therefore keeps its entries until the program removes them.
//
// # Not supported
//
// The generic functions of encoding/json/v2 are rejected, because that package does not see
// the field names and methods of types of cells, and jsontext.AppendUnquote, because there is no other function with the text
// that it appends before an error.
package generic
