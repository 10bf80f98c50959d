package lower

// A call through an interpreted interface goes to a dispatcher, one for each
// method name and signature of the session:
//
//	func callʹAreaʹ1(i interface{}, a0 A) R {
//		f, r, ok := rtʹ.Method(i, "Area")
//		if ok {
//			return f.(func(interface{}, A) R)(r, a0)
//		}
//		return f.(func(A) R)(a0)
//	}
//
// The first form calls the registered method of a boxed value, the second the method value of a
// compiled one. A variadic parameter is a slice in both.

import (
	"fmt"
	"go/types"
	"strconv"

	"github.com/quernlab/quern/interp/origin"
)

func (e *emitter) dispatcher(m *types.Func, sig *types.Signature) string {
	name := m.Name()
	params, results := e.typeTexts(sig.Params()), e.typeTexts(sig.Results())
	key := fmt.Sprintf("call %s(%s)(%s)", origin.MethodKey(m), list(params), list(results))
	return e.helper("callʹ"+name, key, func(helper string) {
		out := " (" + list(results) + ")"
		declared, arguments := []string{"i interface{}"}, []string{}
		for i, t := range params {
			declared = append(declared, fmt.Sprintf("a%d %s", i, t))
			arguments = append(arguments, fmt.Sprintf("a%d", i))
		}
		for v := range sig.Params().Variables() {
			e.noteParameter(helper, v.Type())
		}
		boxed := list(append([]string{"interface{}"}, params...))
		w := &e.out
		w.open("func %s(%s)%s {", helper, list(declared), out)
		w.line("f, r, ok := %s", e.rt("Method", "i", strconv.Quote(origin.MethodKey(m))))
		w.open("if ok {")
		w.line("%sf.(func(%s)%s)(%s)", returning(sig), boxed, out, list(append([]string{"r"}, arguments...)))
		if len(results) == 0 {
			w.line("return")
		}
		w.close("}")
		w.line("%sf.(func(%s)%s)(%s)", returning(sig), list(params), out, list(arguments))
		w.close("}")
	})
}
