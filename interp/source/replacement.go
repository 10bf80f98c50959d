package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// A replacement is the source of a function that is not written in Go, without the word func. Its name is NAME.
type replacement struct {
	imports []string
	text    string
}

// replacements are the functions that packages link to, by package and name, and functions in
// assembly. They do what the originals are documented to do.
var replacements = map[string]replacement{
	"runtime.nanotime":   {[]string{"time"}, "NAME() int64 { return int64(time.Since(NAMEʹstart)) + 1 }\nvar NAMEʹstart = time.Now()"},
	"runtime.walltime":   {[]string{"time"}, "NAME() (int64, int32) { t := time.Now(); return t.Unix(), int32(t.Nanosecond()) }"},
	"runtime.fastrand":   {random, "NAME() uint32 { return rand.Uint32() }"},
	"runtime.cheaprand":  {random, "NAME() uint32 { return rand.Uint32() }"},
	"runtime.fastrand64": {random, "NAME() uint64 { return rand.Uint64() }"},
	"runtime.rand":       {random, "NAME() uint64 { return rand.Uint64() }"},
	"runtime.fastrandn":  {random, "NAME(n uint32) uint32 { return uint32(uint64(rand.Uint32()) * uint64(n) >> 32) }"},
	"runtime.cheaprandn": {random, "NAME(n uint32) uint32 { return uint32(uint64(rand.Uint32()) * uint64(n) >> 32) }"},
	"runtime.procyield":  {[]string{"runtime"}, "NAME(cycles uint32) { runtime.Gosched() }"},
	"runtime.osyield":    {[]string{"runtime"}, "NAME() { runtime.Gosched() }"},
	"runtime.memhash":    {hashing, "NAME(p unsafe.Pointer, seed, n uintptr) uintptr {" + hash + "h.Write(unsafe.Slice((*byte)(p), n))\nreturn uintptr(h.Sum64())\n}\nvar NAMEʹseed = maphash.MakeSeed()"},
	"runtime.strhash":    {hashing, "NAME(p unsafe.Pointer, seed uintptr) uintptr {" + hash + "h.WriteString(*(*string)(p))\nreturn uintptr(h.Sum64())\n}\nvar NAMEʹseed = maphash.MakeSeed()"},
	"runtime.typehash":   {append([]string{"reflect"}, hashing...), "NAME(t uintptr, p unsafe.Pointer, seed uintptr) uintptr {" + hash + typehash + "return uintptr(h.Sum64())\n}\nvar NAMEʹseed = maphash.MakeSeed()"},
	// The memory contains no pointers, so it can be cleared as bytes.
	"runtime.memclrNoHeapPointers": {[]string{"unsafe"}, "NAME(p unsafe.Pointer, n uintptr) { clear(unsafe.Slice((*byte)(p), n)) }"},
	// The result false makes the caller use the system call.
	"runtime.vgetrandom": {nil, "NAME(p []byte, flags uint32) (int, bool) { return -1, false }"},
	"runtime.getAuxv":    {[]string{"encoding/binary", "os"}, auxv},
	"syscall.getsockopt": {[]string{"syscall", "unsafe"}, sockopt("GET", "*uint32", "uintptr(unsafe.Pointer(n))")},
	"syscall.setsockopt": {[]string{"syscall", "unsafe"}, sockopt("SET", "uintptr", "n")},
	"syscall.prlimit":    {[]string{"syscall", "unsafe"}, prlimit},

	unix + "Syscall":           {[]string{"syscall"}, "NAME(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno) { return syscall.Syscall(trap, a1, a2, a3) }"},
	unix + "Syscall6":          {[]string{"syscall"}, "NAME(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno) { return syscall.Syscall6(trap, a1, a2, a3, a4, a5, a6) }"},
	unix + "RawSyscall":        {[]string{"syscall"}, "NAME(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno) { return syscall.RawSyscall(trap, a1, a2, a3) }"},
	unix + "RawSyscall6":       {[]string{"syscall"}, "NAME(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno) { return syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6) }"},
	unix + "SyscallNoError":    {[]string{"syscall"}, "NAME(trap, a1, a2, a3 uintptr) (r1, r2 uintptr) { r1, r2, _ = syscall.Syscall(trap, a1, a2, a3); return }"},
	unix + "RawSyscallNoError": {[]string{"syscall"}, "NAME(trap, a1, a2, a3 uintptr) (r1, r2 uintptr) { r1, r2, _ = syscall.RawSyscall(trap, a1, a2, a3); return }"},
	unix + "gettimeofday":      {[]string{"syscall", "unsafe"}, "NAME(tv *Timeval) syscall.Errno { _, _, e := syscall.RawSyscall(SYS_GETTIMEOFDAY, uintptr(unsafe.Pointer(tv)), 0, 0); return e }"},
}

const unix = "golang.org/x/sys/unix."

var (
	random  = []string{"math/rand/v2"}
	hashing = []string{"hash/maphash", "unsafe"}
)

// hash begins a hash function with a seed.
const hash = `
	var h maphash.Hash
	h.SetSeed(NAMEʹseed)
	for range 8 {
		h.WriteByte(byte(seed))
		seed >>= 8
	}
	`

// typehash hashes the value of type t at p.
const typehash = `
	words := struct {
		t uintptr
		p unsafe.Pointer
	}{t, p}
	ofType := *(*any)(unsafe.Pointer(&words))
	maphash.WriteComparable(&h, reflect.NewAt(reflect.TypeOf(ofType), p).Elem().Interface())
	`

const auxv = `NAME() []uintptr {
	data, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return nil
	}
	var words []uintptr
	for ; len(data) >= 8; data = data[8:] {
		words = append(words, uintptr(binary.NativeEndian.Uint64(data)))
	}
	return words
}`

// sockopt returns the source of a function for an option of a socket.
func sockopt(kind, length, value string) string {
	return `NAME(s, level, name int, v unsafe.Pointer, n ` + length + `) error {
	_, _, e := syscall.Syscall6(syscall.SYS_` + kind + `SOCKOPT, uintptr(s), uintptr(level), uintptr(name), uintptr(v), ` + value + `, 0)
	if e != 0 {
		return e
	}
	return nil
}`
}

// prlimit calls syscall.Setrlimit for this process, because that changes the limit of child processes, too.
const prlimit = `NAME(pid, resource int, limit, old *syscall.Rlimit) error {
	if pid != 0 || limit == nil {
		_, _, e := syscall.RawSyscall6(SYS_PRLIMIT64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(limit)), uintptr(unsafe.Pointer(old)), 0, 0)
		if e != 0 {
			return e
		}
		return nil
	}
	if old != nil {
		if err := syscall.Getrlimit(resource, old); err != nil {
			return err
		}
	}
	return syscall.Setrlimit(resource, limit)
}`

// bodilessFunctions are functions of a package that are declared without a body, because they are written in
// assembly or linked to a function of the Go runtime (//go:linkname), and variables that are
// linked to one of another package.
type bodilessFunctions struct {
	path     string   // of the package
	name     string   // of the package
	assembly bool     // the package has files in assembly
	imports  []string // of the functions that replace them
	text     []string // of these functions
	missing  map[string]string
	err      error
}

// linkDirective matches a directive that links a name to one of another package.
var linkDirective = regexp.MustCompile(`(?m)^//go:linkname[ \t]+(\S+)[ \t]+(\S+\.\S+)[ \t]*\r?$`)

// bodilessSuffix ends the name of a function that is replaced, which nothing uses.
const bodilessSuffix = "ʹbodiless"

// find finds the declarations in a file. Those for which there is a replacement get another name; they may have it already.
func (b *bodilessFunctions) find(file *ast.File, text []byte, fset *token.FileSet) {
	b.name = file.Name.Name
	links := map[string]string{}
	if bytes.Contains(text, []byte("//go:linkname")) { // matching a regular expression takes half as long as parsing the file
		for _, m := range linkDirective.FindAllSubmatch(text, -1) {
			links[string(m[1])] = string(m[2])
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				continue
			}
			d.Name.Name = strings.TrimSuffix(d.Name.Name, bodilessSuffix)
			if b.replaced(d, links[d.Name.Name], file, fset) {
				d.Name.Name += bodilessSuffix
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				for i := 0; ok && d.Tok == token.VAR && len(v.Values) == 0 && i < len(v.Names); i++ {
					if target := links[v.Names[i].Name]; target != "" {
						b.miss(v.Names[i].Name, "the variable %s is "+target+", which interpreted code cannot use")
					}
				}
			}
		}
	}
}

// miss notes that a declaration cannot be interpreted; %s in the reason is its name.
func (b *bodilessFunctions) miss(name, reason string) {
	if b.missing == nil {
		b.missing = map[string]string{}
	}
	b.missing[name] = fmt.Sprintf(reason, name) + CompileInstead(b.path)
}

// CompileInstead returns what to do with a package that cannot be interpreted but can be compiled.
func CompileInstead(path string) string {
	return fmt.Sprintf("; with Go installed, %%get -compiled %s builds a worker with it", path)
}

// replaced reports whether there is a replacement for a function of a file, which is linked to target unless that is "".
func (b *bodilessFunctions) replaced(d *ast.FuncDecl, target string, file *ast.File, fset *token.FileSet) bool {
	name := d.Name.Name
	key := target
	if target == "" {
		key = b.path + "." + name
	}
	r, ok := replacements[key]
	if f, is := reflected[strings.TrimPrefix(target, "reflect.")]; is && strings.HasPrefix(target, "reflect.") {
		r, ok = f.replacement(d, file)
	}
	switch {
	case ok && d.Recv == nil:
		b.imports = append(b.imports, r.imports...)
		b.text = append(b.text, "func "+strings.ReplaceAll(r.text, "NAME", name))
		return true
	case target != "":
		b.miss(name, "the function %s is "+target+", which interpreted code cannot call")
	case b.assembly:
		b.miss(name, "the function %s is written in assembly, and the package has no version of it in Go")
	case b.err == nil:
		b.err = fmt.Errorf("%s: the function %s has no body in Go", fset.Position(d.Pos()), name)
	}
	return false
}

// replace returns a file with the functions that replace those without a body; nil if there are none.
func (b *bodilessFunctions) replace(fset *token.FileSet) (*ast.File, error) {
	if b.err != nil || len(b.text) == 0 {
		return nil, b.err
	}
	slices.Sort(b.imports)
	slices.Sort(b.text)
	text := "package " + b.name + "\n"
	for _, i := range slices.Compact(b.imports) {
		text += fmt.Sprintf("import %q\n", i)
	}
	file, err := parser.ParseFile(fset, b.path+"/linked", text+strings.Join(b.text, "\n"), parser.SkipObjectResolution)
	if err == nil {
		file.GoVersion = ownLanguage
	}
	return file, err
}
