package interp_test

import "testing"

// A pointer to a large array type refers to less memory than the type has.
func TestPointerToLargeArray(t *testing.T) {
	t.Parallel()
	testLargeArray(t, newNotebook(t))
}

func testLargeArray(t *testing.T, n *notebook) {
	t.Helper()
	n.must(t, "import \"unsafe\"\nb := []byte(\"hello world\")\ntype db struct { data *[0xFFFFFFFFFFFF]byte; self *db }", "")
	for _, row := range []struct{ in, want string }{
		{"var p *[0xFFFFFFFFFFFF]byte\np == nil", "= true"},
		{"d := &db{}\nd.data == nil", "= true"},
		{"d.data = (*[0xFFFFFFFFFFFF]byte)(unsafe.Pointer(&b[0]))\nd.data != nil", "= true"},
		{"func third(d *db) byte { return d.data[2] }\nthird(d)", "= 108"},
		{"func part(d *db) string { return string(d.data[6:11:11]) }\npart(d)", "= \"world\""},
		{"func at(p unsafe.Pointer, i, j int) []byte { return (*[0x7FFFFFFF]byte)(p)[i:j:j] }\nstring(at(unsafe.Pointer(&b[0]), 1, 3))", "= \"el\""},
		{"func set(d *db) { d.data[0] = 'H' }\nset(d)\nstring(b)", "= \"Hello world\""},
		{"func (d *db) page(i uint64) *byte { return &d.data[i*2] }\n*d.page(2)", "= 111"},
		{"*(*byte)(unsafe.Pointer(&d.data[4]))", "= 111"},
		{"type other struct { filesz int; data *[0xFFFFFFFFFFFF]byte; f *db }\no := &other{data: d.data}\n*o = other{data: o.data, f: d}\no.f.data == o.data", "= true"},
		{"func mmap(d *db, b []byte) error {\n\td.data = (*[0xFFFFFFFFFFFF]byte)(unsafe.Pointer(&b[0]))\n\treturn nil\n}\nmmap(d, b), d.data[0]", "= <nil>, 72"},
		{"len(d.data), cap(d.data)", "= 281474976710655, 281474976710655"},
		{"d.data = nil\nd", "= &{data:<nil> self:<nil>}"},
		{"func caught(f func()) (e any) {\n\tdefer func() { e = recover() }()\n\tf()\n\treturn\n}\ncaught(func() { d.data[1] = 2 })", "= runtime error: invalid memory address or nil pointer dereference"},
		{"large := new([2000]int)\nfor i := range large { large[i] = i }\nlarge[1999]++\nlarge[1999], large[7], *&large[3]", "= 2000, 7, 3"},
		{"n := 2000\ncaught(func() { large[n] = 2 }), caught(func() { _ = large[-n] })", "= runtime error: index out of range [2000] with length 2000, runtime error: index out of range [-2000]"},
	} {
		n.must(t, row.in, row.want)
	}
}
