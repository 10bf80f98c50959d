package ptx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Functions are PTX functions that compute elementwise ops on float64, for kernels that other packages write. The zero value contains
// none.
type Functions struct {
	texts  map[string]string
	tables map[string]string
}

// Add adds the function with a name for an op that takes a number of operands. Its parameters and its result are .f64:
//
//	.func (.param .f64 y) name(.param .f64 x0, .param .f64 x1)
func (f *Functions) Add(name string, op ir.Op, operands int) error {
	if f.texts[name] != "" {
		return nil
	}
	write := writerOf(op)
	if write == nil {
		return fmt.Errorf("cuda: there is no elementwise kernel for %s", op.Name())
	}
	if f.texts == nil {
		f.texts, f.tables = map[string]string{}, map[string]string{}
	}
	b := newBuilder(true)
	params, x := make([]string, operands), make([]reg, operands)
	for i := range operands {
		params[i] = fmt.Sprintf(".param .f64 x%d", i)
		x[i] = b.op(real64, "ld.param.f64", reg(fmt.Sprintf("[x%d]", i)))
	}
	b.do("st.param.f64", "[y]", write(b, x))
	f.texts[name] = fmt.Sprintf(".func (.param .f64 y) %s(%s)\n{\n%s%s\tret;\n}\n", name, strings.Join(params, ", "), b.declarations(), b.text.String())
	maps.Copy(f.tables, b.tables)
	return nil
}

// String returns the definitions, which belong before the kernels that call the functions.
func (f *Functions) String() string {
	var out strings.Builder
	for _, all := range []map[string]string{f.tables, f.texts} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			out.WriteString(all[name])
		}
	}
	return out.String()
}
