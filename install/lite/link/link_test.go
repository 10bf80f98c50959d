package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// build compiles a program for js/wasm and returns its path.
func build(t *testing.T, source string) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "main.go"), source)
	write(t, filepath.Join(folder, "go.mod"), "module program\n\ngo 1.26\n")
	program := filepath.Join(folder, "linked.wasm")
	command := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	command.Dir = folder
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// execute runs a program under Node. If used is not empty, it writes the numbers of the functions that were called.
func execute(t *testing.T, program, used string) string {
	t.Helper()
	node := testenv.Command(t, "node")
	script := filepath.Join(t.TempDir(), "run.mjs")
	write(t, script, runScript)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	wasmExec := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")
	out, err := exec.Command(node, script, wasmExec, program, used).CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	return string(out)
}

const runScript = `
import fs from "node:fs";
import path from "node:path";
globalThis.fs = fs;
globalThis.path = path;
const [wasmExec, program, used] = process.argv.slice(2);
await import(wasmExec);
const go = new Go();
const module = new WebAssembly.Module(fs.readFileSync(program));
const rest = WebAssembly.Module.imports(module).find(i => i.module === "rest");
if (rest) {
  go.importObject.rest = { [rest.name]: () => {
    console.log("the rest is loaded");
    const file = path.join(path.dirname(program), "rest-" + rest.name + ".wasm");
    new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file)), { first: instance.exports });
    instance.exports.loaded.value = 1;
  } };
}
const instance = new WebAssembly.Instance(module, go.importObject);
await go.run(instance);
if (used) {
  const numbers = [];
  for (let i = 0; instance.exports["f" + i]; i++) if (instance.exports["f" + i].value) numbers.push(i);
  fs.writeFileSync(used, numbers.join("\n"));
}
`

// The program has what jumps have to get right: switches with gaps and negative cases, loops with several entries,
// goroutines that stop within them, and panics that are recovered.
const jumpsSource = `package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

func number(n int) string {
	switch n {
	case -3: return "minus three"
	case 0: return "zero"
	case 1: return "one"
	case 2: return "two"
	case 3: return "three"
	case 5: return "five"
	case 8: return "eight"
	case 9, 10, 11: return "about ten"
	case 40: return "forty"
	case 1 << 40: return "much"
	}
	return "other"
}

func letter(b byte) (n int) {
	switch {
	case b == 'a': n = 1
	case b == 'b': n = 2
	case b == 'c': n = 3
	case b < 'h': n = 4
	case b == 'k': n = 5
	case b == 'q': n = 6
	case b > 'w': n = 7
	}
	return n
}

func collatz(n int) (steps int) {
again:
	for n != 1 {
		steps++
		if n%2 == 0 {
			n /= 2
			continue again
		}
		if steps%7 == 0 {
			runtime.Gosched()
		}
		n = 3*n + 1
	}
	return steps
}

func recovered(s []int, i int) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	for k := range s {
		if k == i {
			return fmt.Sprint(s[k])
		}
	}
	return fmt.Sprint(s[i])
}

func main() {
	for _, n := range []int{-4, -3, -1, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 39, 40, 41, 1 << 32, 1<<32 + 1, 1 << 40} {
		fmt.Println(n, number(n))
	}
	for _, b := range []byte("abcdhkqwxyz") {
		fmt.Print(letter(b), " ")
	}
	fmt.Println()
	results := make(chan string)
	for n := 25; n < 31; n++ {
		go func() { results <- fmt.Sprint(n, " ", collatz(n)) }()
	}
	all := map[string]bool{}
	for range 6 {
		all[<-results] = true
	}
	fmt.Println(all)
	fmt.Println(recovered([]int{4, 5}, 1), recovered([]int{4, 5}, 7))
	if len(os.Args) > 5 {
		fmt.Println(strings.Title("never"))
	}
	fmt.Println(strings.Map(func(r rune) rune { return r + 1 }, "HAL"))
}
`

func TestOptimize(t *testing.T) {
	program := build(t, jumpsSource)
	optimized := filepath.Join(t.TempDir(), "optimized.wasm")
	if err := run([]string{"optimize", program, optimized}); err != nil {
		t.Fatal(err)
	}
	want, got := execute(t, program, ""), execute(t, optimized, "")
	if got != want {
		t.Errorf("optimized, the program prints\n%s\nwant\n%s", got, want)
	}
	if size(t, optimized) >= size(t, program) {
		t.Errorf("the optimized program has %d bytes, the other %d", size(t, optimized), size(t, program))
	}
	checkTables(t, optimized)
}

// checkTables checks that the program has a branch table for the switch of jumpsSource, after an if.
func checkTables(t *testing.T, program string) {
	file, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModule(file)
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, body := range m.bodies {
		r := reader{body}
		r.locals()
		var last [4]byte
		for len(r.rest) > 0 {
			in := r.next()
			if in.op == opBrTable && last == [4]byte{opI64LtU, opIf, opLocalGet, opI32WrapI64} {
				tables++
			}
			last = [4]byte{last[1], last[2], last[3], in.op}
		}
	}
	if tables < 3 {
		t.Errorf("the program has %d tables of switches", tables)
	}
}

func TestSplit(t *testing.T) {
	// Without arguments, the program counts what it calls; with --rest it calls more.
	source := strings.Replace(jumpsSource, "len(os.Args) > 5", "os.Getenv(\"MORE\") != \"\"", 1)
	program := build(t, source)
	folder := t.TempDir()
	counted, used := filepath.Join(folder, "count.wasm"), filepath.Join(folder, "used.txt")
	if err := run([]string{"count", program, counted}); err != nil {
		t.Fatal(err)
	}
	want := execute(t, counted, used)
	if err := run([]string{"split", program, used, folder}); err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(folder, "quern.wasm")
	if got := execute(t, first, ""); got != want {
		t.Errorf("the first part of the program prints\n%s\nwant\n%s", got, want)
	}
	if size(t, first) > size(t, program)*3/4 {
		t.Errorf("the first part has %d of %d bytes", size(t, first), size(t, program))
	}
	// With no used functions, all that can move is in the rest, which works too.
	write(t, used, "")
	rest := t.TempDir()
	if err := run([]string{"split", program, used, rest}); err != nil {
		t.Fatal(err)
	}
	got := execute(t, filepath.Join(rest, "quern.wasm"), "")
	if got != "the rest is loaded\n"+want {
		t.Errorf("with the rest, the program prints\n%s\nwant\n%s", got, want)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 32, -1 << 63, 1<<63 - 1} {
		r := reader{append(signed(nil, n), 0)}
		if got := r.signed(); got != n || len(r.rest) != 1 {
			t.Errorf("%d is read as %d", n, got)
		}
	}
}

func TestErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	write(t, text, "no module")
	for _, args := range [][]string{nil, {"optimize", text}, {"optimize", text, text + ".out"}, {"count", text + "none", text + ".out"}} {
		if err := run(args); err == nil {
			t.Errorf("link %q returns no error", args)
		}
	}
}
