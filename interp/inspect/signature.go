package inspect

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/check"
)

// A Signature describes the function that a call calls.
type Signature struct {
	Declaration string // on one line, such as func Fit(ctx context.Context, model nn.Module) error
	Doc         string // plain text; may be empty
	// Parameters are the offsets in Declaration at which each parameter begins and ends.
	Parameters [][2]int
	Active     int // index of the parameter for the argument at the offset; the last one of a variadic function also for those after it
}

// SignatureAt describes the function whose arguments are at a byte offset of src. ok is false outside of a call and for
// conversions and predeclared functions.
func SignatureAt(c *check.Checker, doc Doc, src string, offset int) (found Signature, ok bool) {
	offset = min(max(offset, 0), len(src))
	at, commas, ok := callee(tokensBefore(src, offset))
	if !ok {
		return Signature{}, false
	}
	ok = false
	visit := func(s *check.Sketch) {
		v := &describer{s, doc, 0}
		id := v.Ident(at)
		if id == nil {
			return
		}
		o := v.object(id)
		if o == nil {
			return
		}
		sig, isFunc := o.Type().Underlying().(*types.Signature)
		if instance, generic := v.Info.Instances[id]; generic {
			sig, isFunc = instance.Type.(*types.Signature)
		}
		if _, isType := o.(*types.TypeName); isType || !isFunc {
			return
		}
		found = v.signature(o, sig)
		found.Active = commas
		if n := len(found.Parameters); sig.Variadic() && commas >= n {
			found.Active = n - 1
		}
		ok = true
	}
	c.Sketch(src, visit)
	if !ok { // the arguments are not complete yet, or errors elsewhere hide declarations
		if text, changed := check.WithoutErrors(src, at); changed {
			c.Sketch(text, visit)
		}
	}
	return found, ok
}

// signature writes the declaration of a function or of a variable that is a function.
func (v *describer) signature(o types.Object, sig *types.Signature) Signature {
	text := o.Name() + "("
	if _, ok := o.(*types.Func); ok {
		text = "func " + text
	}
	var s Signature
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		if i > 0 {
			text += ", "
		}
		begin := len(text)
		if p.Name() != "" {
			text += p.Name() + " "
		}
		if slice, ok := p.Type().(*types.Slice); ok && sig.Variadic() && i == sig.Params().Len()-1 {
			text += "..." + types.TypeString(slice.Elem(), v.qualifier)
		} else {
			text += types.TypeString(p.Type(), v.qualifier)
		}
		s.Parameters = append(s.Parameters, [2]int{begin, len(text)})
	}
	text += ")"
	switch results := sig.Results(); {
	case results.Len() == 1 && results.At(0).Name() == "":
		text += " " + types.TypeString(results.At(0).Type(), v.qualifier)
	case results.Len() > 0:
		text += " " + types.TypeString(results, v.qualifier)
	}
	s.Declaration, s.Doc = text, v.describe(o).Doc
	return s
}

// callee returns the offset of the name of the called function if the tokens end within its list of arguments, and the
// number of commas between the arguments before.
func callee(list []lexeme) (at, commas int, ok bool) {
	depth := 0
	for i, t := range slices.Backward(list) {
		switch t.tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LBRACK, token.LBRACE:
			if depth--; depth < 0 { // in an index or a composite literal that is an argument
				depth, commas = 0, 0
			}
		case token.LPAREN:
			if depth--; depth < 0 {
				at, ok = nameBefore(list[:i])
				return at, commas, ok
			}
		case token.COMMA:
			if depth == 0 {
				commas++
			}
		case token.SEMICOLON:
			if depth == 0 {
				return 0, 0, false
			}
		}
	}
	return 0, 0, false
}

// nameBefore returns the offset of the name at the end of list, which may have type arguments.
func nameBefore(list []lexeme) (at int, ok bool) {
	depth := 0
	for _, t := range slices.Backward(list) {
		switch {
		case t.tok == token.RBRACK:
			depth++
		case t.tok == token.LBRACK:
			depth--
		case depth == 0:
			return t.offset, t.tok == token.IDENT
		}
	}
	return 0, false
}
