package interp_test

import (
	"runtime"
	"strings"
	"testing"
)

// assemblyFiles are packages with code that only a compiler can use. In each of them the version in Go, which a
// compiler does not select on this machine, returns another text.
var assemblyFiles = map[string]string{
	"go.mod":           "module example.com/asm\n",
	"tag/tag_asm.go":   "//go:build !purego\n\npackage tag\n\nfunc name() string\n\nfunc Name() string { return name() }\n",
	"tag/tag_go.go":    "//go:build purego\n\npackage tag\n\nfunc Name() string { return \"in Go\" }\n",
	"tag/tag_ARCH.s":   "",
	"arch/arch.go":     "package arch\n\nfunc Name() string { return name() + more() }\n",
	"arch/asm_ARCH.go": "package arch\n\nfunc name() string\n",
	"arch/asm_ARCH.s":  "",
	"arch/other.go":    "//go:build !amd64 && !arm64\n\npackage arch\n\nfunc name() string { return \"in Go\" }\n",
	"arch/unsafe.go":   "//go:build !nounsafe\n\npackage arch\n\nimport \"unsafe\"\n\nfunc more() string { return *(*string)(unsafe.Pointer(new(string))) }\n",
	"arch/safe.go":     "//go:build nounsafe\n\npackage arch\n\nfunc more() string { return \", safe\" }\n",
	// A package that needs a constant of each architecture.
	"line/line.go":         "package line\n\nvar Has = detect() && Size > 0\n",
	"line/line_ARCH.go":    "package line\n\nconst Size = 64\n\nfunc cpuid() uint32\n\nfunc detect() bool { return cpuid() > 1 }\n",
	"line/line_ARCH.s":     "",
	"line/line_mips64x.go": "//go:build mips64 || mips64le\n\npackage line\n\nconst Size = 32\n\nfunc detect() bool { return false }\n",
	// The same with system calls, whose numbers differ.
	"sys/sys.go":          "package sys\n\nimport \"syscall\"\n\nvar Errno = syscall.ENOENT\n",
	"sys/sys_ARCH.go":     "package sys\n\nconst Number = 1\n\nfunc Call() int\n",
	"sys/sys_ARCH.s":      "",
	"sys/sys_mips64le.go": "package sys\n\nconst Number = 2\n\nfunc Call() int { return 2 }\n",
	// A package without a version in Go of one function.
	"only/only.go":     "package only\n\nfunc add(a, b int) int\n\nfunc Add(a, b int) int { return add(a, b) }\n\nfunc Sub(a, b int) int { return a - b }\n",
	"only/only_ARCH.s": "",
	// Tags change what a package does that needs none of them.
	"plain/appengine.go": "//go:build appengine || purego || noasm || safe\n\npackage plain\n\nconst Name = \"changed\"\n",
	"plain/plain.go":     "//go:build !appengine && !purego && !noasm && !safe\n\npackage plain\n\nconst Name = \"as in Go\"\n",
	// A package without assembly keeps what it does with package unsafe.
	"peek/unsafe.go": "//go:build !safe && !disableunsafe\n\npackage peek\n\nimport \"unsafe\"\n\nfunc Name() string { s := \"as in Go\"; return *(*string)(unsafe.Pointer(&s)) }\n",
	"peek/safe.go":   "//go:build safe || disableunsafe\n\npackage peek\n\nfunc Name() string { return \"changed\" }\n",
	"link/link.s":    "",
	"link/link.go": `package link

import "unsafe"

//go:linkname nanotime runtime.nanotime
func nanotime() int64

//go:linkname randomBelow runtime.fastrandn
func randomBelow(n uint32) uint32

//go:linkname pin runtime.procPin
func pin() int

//go:linkname overflow runtime.overflowError
var overflow error

//go:linkname memclr runtime.memclrNoHeapPointers
func memclr(p unsafe.Pointer, n uintptr)

func Clear(b []byte) []byte { memclr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))); return b }

func Rises() bool {
	a := nanotime()
	for range 100 {
		if b := nanotime(); b > a && a > 0 {
			return true
		}
	}
	return false
}

func Below(n uint32) bool {
	for range 100 {
		if randomBelow(n) >= n {
			return false
		}
	}
	return true
}

func Pin() int { return pin() }

func Overflow() error { return overflow }
`,
	"hash/hash.s": "",
	"hash/hash.go": `package hash

import "unsafe"

//go:linkname memhash runtime.memhash
func memhash(p unsafe.Pointer, h, s uintptr) uintptr

//go:linkname strhash runtime.strhash
func strhash(p unsafe.Pointer, h uintptr) uintptr

func Bytes(b []byte, seed uintptr) uintptr { return memhash(unsafe.Pointer(unsafe.SliceData(b)), seed, uintptr(len(b))) }

func String(s string, seed uintptr) uintptr { return strhash(unsafe.Pointer(&s), seed) }

//go:linkname typehash runtime.typehash
func typehash(t uintptr, p unsafe.Pointer, h uintptr) uintptr

func Of[T comparable](x T, seed uintptr) uintptr {
	var i any = x
	return typehash((*[2]uintptr)(unsafe.Pointer(&i))[0], unsafe.Pointer(&x), seed)
}
`,
}

func assemblyModule(t *testing.T) *notebook {
	t.Helper()
	files := map[string]string{}
	for name, text := range assemblyFiles {
		files["example.com/asm@v1.0.0/"+strings.ReplaceAll(name, "ARCH", runtime.GOARCH)] = text
	}
	n := newNotebook(t, modules(t, files))
	n.must(t, "%get example.com/asm", "example.com/asm v1.0.0; instead of assembly or cgo, cells run the code in Go of its packages arch, hash, line, tag\n")
	return n
}

// A package with assembly is interpreted from its version in Go, and functions that are linked to the
// runtime have replacements. Other packages have the files that the go command selects.
func TestModuleWithAssembly(t *testing.T) {
	t.Parallel()
	n := assemblyModule(t)
	for _, row := range []struct{ in, want string }{
		{"import \"example.com/asm/tag\"\ntag.Name()", "= \"in Go\""},
		{"import \"example.com/asm/arch\"\narch.Name()", "= \"in Go, safe\""},
		{"import \"example.com/asm/line\"\nline.Has", "= false"},
		{"import \"example.com/asm/plain\"\nplain.Name", "= \"as in Go\""},
		{"import \"example.com/asm/peek\"\npeek.Name()", "= \"as in Go\""},
		{"import \"example.com/asm/link\"\nlink.Rises(), link.Below(3)", "= true, true"},
		{"all := []byte(\"abcdefghijkl\")\nlink.Clear(all[2:11])\nlink.Clear(nil)\nall", "= [97 98 0 0 0 0 0 0 0 0 0 108]"},
		{"import \"example.com/asm/hash\"\nb := []byte(\"abc\")\nhash.Bytes(b, 1) == hash.Bytes([]byte(\"abc\"), 1), hash.Bytes(b, 1) == hash.Bytes(b, 2), hash.Bytes(b, 1) == hash.Bytes(b[:2], 1)", "= true, false, false"},
		{"hash.String(\"abc\", 1) == hash.String(string(b), 1), hash.String(\"abc\", 1) == hash.String(\"abd\", 1)", "= true, false"},
		{"type key struct {\n\ts string\n\tf float64\n\tp *int\n\ti any\n}\nk := key{\"abc\", 0, new(int), [1]string{\"d\"}}\nl := key{string(b), math.Copysign(0, -1), k.p, [1]string{string(\"abcd\"[3:])}}\nother := k\nother.p = new(int)\n" +
			"hash.Of(k, 1) == hash.Of(l, 1), hash.Of(k, 1) == hash.Of(l, 2), hash.Of(k, 1) == hash.Of(other, 1)", "= true, false, false"},
		{"x := 1\nbefore := hash.Of(&x, 1)\nx = 2\nbefore == hash.Of(&x, 1), hash.Of(int8(1), 1) == hash.Of(int8(2), 1)", "= true, false"},
		{"import \"example.com/asm/only\"\nonly.Sub(3, 2)", "= 1"},
	} {
		n.must(t, row.in, row.want)
	}
}

// What has no version in Go is rejected when code reaches it, and the session continues.
func TestModuleWithoutGo(t *testing.T) {
	t.Parallel()
	n := assemblyModule(t)
	for _, row := range []struct{ in, want string }{
		{"import \"example.com/asm/only\"\nonly.Add(3, 2)", "only/only.go:3:6: the function add is written in assembly, and the package has no version of it in Go"},
		{"import \"example.com/asm/sys\"\nsys.Call()", "the function Call is written in assembly"},
		{"import \"example.com/asm/link\"\nlink.Pin()", "link/link.go:12:6: the function pin is runtime.procPin, which interpreted code cannot call"},
		{"import \"example.com/asm/link\"\nlink.Overflow()", "link/link.go:15:5: the variable overflow is runtime.overflowError, which interpreted code cannot use"},
	} {
		got := n.run(row.in)
		if !strings.HasPrefix(got, "! compile error: package example.com/asm/") || !strings.Contains(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.in, got, row.want)
		}
	}
	n.must(t, "import \"example.com/asm/sys\"\nsys.Number, sys.Errno", "= 1, no such file or directory")
	n.must(t, "import \"example.com/asm/only\"\nonly.Sub(3, 2)", "= 1")
}
