package ptxsim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// printing is a kernel that calls vprintf with a format and 8-byte arguments, and stores what it returns.
func printing(format string, args []uint64) string {
	bytes := func(s string) string {
		var list []string
		for _, c := range []byte(s) {
			list = append(list, fmt.Sprint(c))
		}
		return strings.Join(append(list, "0"), ", ")
	}
	text := ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n" +
		fmt.Sprintf(".global .align 1 .b8 f[%d] = {%s};\n.global .align 1 .b8 word[4] = {%s};\n", len(format)+1, bytes(format), bytes("two")) +
		".visible .entry k(.param .u64 out)\n{\n.local .align 8 .b8 l[64];\n.reg .b64 %d<9>;\n.reg .b32 %r<3>;\n"
	for i, a := range args {
		text += fmt.Sprintf("mov.u64 %%d1, %d;\nst.local.u64 [l+%d], %%d1;\n", a, 8*i)
		if a == wordArgument {
			text += fmt.Sprintf("mov.u64 %%d1, word;\ncvta.global.u64 %%d1, %%d1;\nst.local.u64 [l+%d], %%d1;\n", 8*i)
		}
	}
	return text + `mov.u64 %d2, f; cvta.global.u64 %d2, %d2; mov.u64 %d3, l; cvta.local.u64 %d3, %d3;
{
.param .b64 p0; st.param.b64 [p0], %d2;
.param .b64 p1; st.param.b64 [p1], %d3;
.param .b32 q;
call.uni (q), vprintf, (p0, p1);
ld.param.b32 %r1, [q];
}
ld.param.u64 %d4, [out]; st.global.u32 [%d4], %r1; ret;
}`
}

// wordArgument stands for the address of a text.
const wordArgument = 77777777

// The formats are those of C.
func TestPrintf(t *testing.T) {
	t.Parallel()
	f := math.Float64bits
	minusOne := ^uint64(0)
	for _, row := range []struct {
		format string
		args   []uint64
		want   string
	}{
		{"none%%\n", nil, "none%\n"},
		{"%lld|%llu|%llx|%#llX|%5lld|%-5lld|%+lld|%05lld", []uint64{minusOne, 7, 255, 255, 42, 42, 42, 42}, "-1|7|ff|0XFF|   42|42   |+42|00042"},
		{"%d", []uint64{minusOne}, "-1"},
		{"%hd", []uint64{0xffff8000}, "-32768"},
		{"%hhu", []uint64{0x1ff}, "255"},
		{"%zu|%ld", []uint64{1 << 40, minusOne}, "1099511627776|-1"},
		{"%f|%.2f|%8.3f|%-8.1f|%e|%.0f", []uint64{f(1.5), f(2.345), f(-3.14159), f(2), f(12345.678), f(2.5)}, "1.500000|2.35|  -3.142|2.0     |1.234568e+04|2"},
		{"%g|%g|%g|%g|%.3g|%G", []uint64{f(0.0001), f(0.00001), f(123456), f(1234567), f(1234), f(1e-10)}, "0.0001|1e-05|123456|1.23457e+06|1.23e+03|1E-10"},
		{"%f|%e|%g|%F|%5f|%+f", []uint64{f(math.Inf(1)), f(math.Inf(-1)), f(math.NaN()), f(math.Inf(1)), f(math.Inf(1)), f(math.Inf(1))}, "inf|-inf|nan|INF|  inf|+inf"},
		{"%s|%5s|%.1s", []uint64{wordArgument, wordArgument, wordArgument}, "two|  two|t"},
	} {
		m := newSimulator(t)
		k := m.load(printing(row.format, row.args)).Kernel("k")
		out := m.alloc(4)
		var b strings.Builder
		if _, err := k.Run(context.Background(), Launch{Params: params(k, out), Output: &b}); err != nil || b.String() != row.want {
			t.Errorf("%q: %v\ngot  %s\nwant %s", row.format, err, b.String(), row.want)
		} else if n := get[uint32](m, out, 1)[0]; int(n) != len(row.args) {
			t.Errorf("%q: %d arguments", row.format, n)
		}
	}
	for _, row := range []struct{ format, want string }{{"%n", "%n of printf is not supported"}, {"%", "ends in %"}, {"%d", "never written"}} {
		m := newSimulator(t)
		k := m.load(printing(row.format, nil)).Kernel("k")
		_, err := k.Run(context.Background(), Launch{Params: params(k, m.alloc(4)), Output: &strings.Builder{}})
		if f := (*Fault)(nil); !errors.As(err, &f) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: %v", row.format, err)
		}
	}
}

// A run prints as much as the buffer of a GPU contains.
func TestPrintsTooMuch(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.load(printing(strings.Repeat("x", 1<<15), nil)).Kernel("k")
	var b strings.Builder
	if _, err := k.Run(context.Background(), Launch{Grid: Dim{X: 40}, Params: params(k, m.alloc(4)), Output: &b}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "x") != maxPrinted || !strings.HasSuffix(text, "after the first 1048576 bytes is left out\n") {
		t.Errorf("%d bytes, %s", len(text), text[len(text)-80:])
	}
}
