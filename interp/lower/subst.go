package lower

// A generic function is lowered once for each list of type arguments. The facts of the type checker are about the generic
// source; all their types go through environment.subst.

import (
	"go/ast"
	"go/types"
	"maps"

	"github.com/quernlab/quern/interp/rt"
)

// environment maps type parameters to type arguments.
type environment struct {
	params map[*types.TypeParam]types.Type
	// types maps the types that are declared in the generic function, also generic ones,
	// to those of this instance.
	types map[*types.TypeName]*types.Named
	args  []types.Type
}

func newEnvironment(params []*types.TypeParam, args []types.Type) *environment {
	env := &environment{params: map[*types.TypeParam]types.Type{}, types: map[*types.TypeName]*types.Named{}, args: args}
	for i, t := range args {
		env.params[params[i]] = t
	}
	return env
}

// rename gives the generic type own parameters like params. It returns the environment of the type's declaration.
func (env *environment) rename(params *types.TypeParamList, own *types.Named) *environment {
	inner := &environment{params: maps.Clone(env.params), types: env.types}
	renamed := make([]*types.TypeParam, params.Len())
	for i := range renamed {
		p := params.At(i)
		renamed[i] = types.NewTypeParam(types.NewTypeName(p.Obj().Pos(), p.Obj().Pkg(), p.Obj().Name(), nil), p.Constraint())
		inner.params[p] = renamed[i]
	}
	own.SetTypeParams(renamed)
	return inner
}

// localType gives the instance its own type for one that the generic function declares.
func (env *environment) localType(info *types.Info, spec *ast.TypeSpec) {
	o := info.Defs[spec.Name].(*types.TypeName)
	n, ok := o.Type().(*types.Named)
	if spec.Assign.IsValid() || !ok {
		return
	}
	own := types.NewNamed(types.NewTypeName(o.Pos(), o.Pkg(), rt.LocalTypeName(o.Name(), env.args), nil), nil, nil)
	env.types[o] = own
	inner := env
	if n.TypeParams() != nil {
		inner = env.rename(n.TypeParams(), own)
	}
	own.SetUnderlying(inner.subst(n.Underlying()))
}

// subst returns t with the type arguments of the function.
func (env *environment) subst(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.TypeParam:
		if arg, ok := env.params[t]; ok {
			return arg
		}
	case *types.Alias:
		return env.subst(types.Unalias(t))
	case *types.Named:
		if own, ok := env.types[t.Obj()]; ok && t.TypeArgs().Len() == 0 {
			return own
		}
		if t.TypeArgs().Len() == 0 {
			return t
		}
		args := typeList(t.TypeArgs())
		for i, arg := range args {
			args[i] = env.subst(arg)
		}
		origin := t.Origin()
		if own, ok := env.types[origin.Obj()]; ok {
			origin = own
		}
		instance, err := types.Instantiate(nil, origin, args, false)
		if err != nil {
			panic(err)
		}
		return instance
	case *types.Pointer:
		return types.NewPointer(env.subst(t.Elem()))
	case *types.Slice:
		return types.NewSlice(env.subst(t.Elem()))
	case *types.Array:
		return types.NewArray(env.subst(t.Elem()), t.Len())
	case *types.Map:
		return types.NewMap(env.subst(t.Key()), env.subst(t.Elem()))
	case *types.Chan:
		return types.NewChan(t.Dir(), env.subst(t.Elem()))
	case *types.Tuple:
		return env.tuple(t)
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, env.tuple(t.Params()), env.tuple(t.Results()), t.Variadic())
	case *types.Struct:
		fields := make([]*types.Var, t.NumFields())
		tags := make([]string, t.NumFields())
		for i := range fields {
			v := t.Field(i)
			fields[i] = types.NewField(v.Pos(), v.Pkg(), v.Name(), env.subst(v.Type()), v.Embedded())
			tags[i] = t.Tag(i)
		}
		return types.NewStruct(fields, tags)
	case *types.Interface:
		methods := make([]*types.Func, t.NumMethods())
		for i := range methods {
			m := t.Method(i)
			methods[i] = types.NewFunc(m.Pos(), m.Pkg(), m.Name(), env.subst(m.Type()).(*types.Signature))
		}
		return types.NewInterfaceType(methods, nil).Complete()
	}
	return t
}

func (env *environment) tuple(t *types.Tuple) *types.Tuple {
	vars := make([]*types.Var, t.Len())
	for i := range vars {
		v := t.At(i)
		vars[i] = types.NewVar(v.Pos(), v.Pkg(), v.Name(), env.subst(v.Type()))
	}
	return types.NewTuple(vars...)
}
