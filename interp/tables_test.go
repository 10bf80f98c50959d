package interp_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestModuleTables checks that large tables of integers in packages have the values of their
// source, however it is written.
func TestModuleTables(t *testing.T) {
	t.Parallel()
	list := func(format string) string {
		var b strings.Builder
		for i := range 130 {
			fmt.Fprintf(&b, format+", ", i)
		}
		return b.String()
	}
	source := "package tables\n" +
		"var Plain = []uint16{" + list("%d") + "}\n" +
		"var Keyed = [...]uint16{300: 7, " + list("1%03d: 5") + " 8}\n" +
		"var Long = [400]int8{1: 3, " + strings.Replace(list("-%d"), "-128, -129, ", "-127, -127, ", 1) + "}\n" +
		"var Kinds = [...]rune{'a', '\\n', 0x1F, 0b101, 0o17, 017, 1_000, -2147483647, " + list("%d") + "}\n" +
		"var Pointer = &[]uint64{18446744073709551615, " + list("%#x") + "}\n" +
		"var Waits = Held{Name: \"x\", list: [...]byte{" + list("%d") + " 130: 255}}\n" +
		"type Held struct { Name string; list [131]byte }\n" +
		"func (h Held) Last() byte { return h.list[len(h.list)-1] }\n" +
		"var Called = sum([]int{" + list("%d") + "})\n" +
		"func sum(list []int) (n int) { for _, x := range list { n += x }; return n }\n" +
		"const shift, low = 4, 3\nconst typed uint8 = 200\n" +
		"var Computed = [...]uint32{20000 - 19000: low<<shift | 1, 5: (shift + low) * 2, 6: -shift + 10, " + list("%d<<shift - 0") + "}\n" +
		"var Typed = [...]uint8{typed, " + list("%d") + "}\n" +
		"func Change() { Plain[1] = 9 }\n" +
		"var Lowest = []int8{-128, 127, " + list("%d - 1 + 1 - %[1]d") + "}\n"
	shadowed := "package shadowed\ntype uint16 string\nvar Strings = [...]uint16{" + strings.Repeat(`"a", `, 130) + "}\ntype int float64\nvar Floats = []int{" + list("%d") + "}\nvar Half = Floats[3] / 2\n"
	files := map[string]string{
		"example.com/t@v1.0.0/go.mod":               "module example.com/t\n",
		"example.com/t@v1.0.0/tables/tables.go":     source,
		"example.com/t@v1.0.0/shadowed/shadowed.go": shadowed,
	}
	broken := map[string]string{
		"twice":     "var X = [...]int{" + list("%d") + "5: 1}\n",
		"overflow":  "var X = []uint8{" + list("%d") + "256}\n",
		"negative":  "var X = []uint8{" + list("%d") + "-1}\n",
		"lower":     "var X = []int8{" + strings.Repeat("1, ", 130) + "-129}\n",
		"shift":     "const s = 60\nvar X = []uint64{" + list("%d") + "16 << s}\n",
		"name":      "var X = []int{" + list("%d") + "none}\n",
		"variable":  "type T int\nconst c T = 1\nvar X = []int{" + list("%d") + "c}\n",
		"outside":   "var X = [10]int{" + list("%d") + "}\n",
		"character": "var X = []byte{" + list("%d") + "'ā'}\n",
	}
	for name, text := range broken {
		files["example.com/t@v1.0.0/"+name+"/x.go"] = "package " + name + "\n" + text
	}
	n := newNotebook(t, modules(t, files))
	n.must(t, "%get example.com/t\nimport \"example.com/t/tables\"\nlen(tables.Plain), tables.Plain[129], tables.Plain[:3]", "example.com/t v1.0.0\n= 130, 129, [0 1 2]")
	for _, row := range []struct{ in, want string }{
		{"len(tables.Keyed), tables.Keyed[300], tables.Keyed[1000], tables.Keyed[1129], tables.Keyed[1130]", "= 1131, 7, 5, 5, 8"},
		{"len(tables.Long), tables.Long[1], tables.Long[2], tables.Long[131], tables.Long[399]", "= 400, 3, 0, -127, 0"},
		{"tables.Kinds[:8], tables.Kinds[137], len(tables.Kinds)", "= [97 10 31 5 15 15 1000 -2147483647], 129, 138"},
		{"(*tables.Pointer)[0], (*tables.Pointer)[130]", "= 18446744073709551615, 129"},
		{"tables.Waits.Last(), tables.Called", "= 255, 8385"},
		{"tables.Lowest[:4], len(tables.Lowest)", "= [-128 127 0 0], 132"},
		{"tables.Computed[1000], tables.Computed[5:8], tables.Computed[136], len(tables.Computed)", "= 49, [14 6 0], 2064, 1001"},
		{"tables.Typed[0], tables.Typed[130]", "= 200, 129"},
		{"tables.Change()\ntables.Plain[:3]", "= [0 9 2]"},
		{"import \"example.com/t/shadowed\"\nshadowed.Half, shadowed.Strings[129]", "= 1.5, \"a\""},
	} {
		n.must(t, row.in, row.want)
	}
	for name, want := range map[string]string{
		"twice": "duplicate index 5", "overflow": "256", "negative": "-1", "shift": "16 << s", "name": "undefined: none", "variable": "cannot use c", "lower": "-129", "outside": "out of bounds", "character": "'ā'",
	} {
		got := n.run("import \"example.com/t/" + name + "\"\n" + name + ".X[0]")
		if !strings.Contains(got, "example.com/t/"+name+" cannot be interpreted") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
