package lower

// A type of an internal package has the name of a public alias, and an unexported type one of the session:
//
//	binary.LittleEndian, of type littleEndian                                ->  typesʹ.UencodingʹbinaryʹlittleEndian
//	tensor.ShapeError, an alias of .../accel/internal/tensortype.ShapeError  ->  pʹ...ʹaccelʹtensor.ShapeError

import (
	"cmp"
	"go/types"
	"path"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/lower/layout"
)

// publicName returns the name in lowered code of a compiled type.
func (e *emitter) publicName(o *types.TypeName) string {
	symbols, importable := e.Packages[o.Pkg().Path()+"/"+o.Pkg().Name()]
	if importable && !o.Exported() {
		return e.unexportedName(symbols, o)
	}
	if importable || e.Packages == nil {
		return e.alias(o.Pkg()) + "." + o.Name()
	}
	public, ok := e.public()[publicKey{o.Pkg().Path(), o.Name()}]
	if !ok {
		panic(&UnsupportedError{Construct: "a value of the type " + o.Pkg().Path() + "." + o.Name() + ", for which no importable package has a name,", Position: e.at})
	}
	return e.alias(public.pkg) + "." + public.name
}

// unexportedName returns the name in lowered code of an unexported compiled type, such as that of binary.LittleEndian.
func (e *emitter) unexportedName(symbols map[string]reflect.Value, o *types.TypeName) string {
	made, ok := layout.Compiled(symbols, o)
	if !ok {
		panic(&UnsupportedError{Construct: "a value of the unexported type " + o.Pkg().Path() + "." + o.Name(), Position: e.at})
	}
	name := "U" + mangle(o.Pkg().Path()) + "ʹ" + o.Name()
	e.symbol(name, reflect.Zero(reflect.PointerTo(made)))
	return e.importAs(TypesPath, compiledTypes) + "." + name
}

// publicKey is a type by the import path and name that package reflect reports.
type publicKey struct{ pkg, name string }

type publicType struct {
	pkg  *types.Package
	name string
}

// public computes, once, the public names of types of packages that cannot be imported.
func (p *Program) public() map[publicKey]publicType {
	if p.publics != nil {
		return p.publics
	}
	p.publics = map[publicKey]publicType{}
	for key, table := range p.Packages {
		importPath, name := path.Dir(key), path.Base(key)
		for symbol, v := range table {
			if v.Kind() != reflect.Pointer || !v.IsNil() || strings.HasPrefix(symbol, "_") {
				continue
			}
			t := v.Type().Elem()
			if t.PkgPath() == importPath || t.Name() == "" {
				continue
			}
			k := publicKey{t.PkgPath(), t.Name()}
			if old, ok := p.publics[k]; !ok || cmp.Or(cmp.Compare(len(importPath), len(old.pkg.Path())), cmp.Compare(importPath, old.pkg.Path()), cmp.Compare(symbol, old.name)) < 0 {
				p.publics[k] = publicType{types.NewPackage(importPath, name), symbol}
			}
		}
	}
	return p.publics
}
