package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/collector"
)

//go:embed testdata
var programs embed.FS

func main() {
	runs := flag.Int("rounds", 3, "how often each program runs; the shortest time counts")
	only := flag.String("run", "", "run only the programs whose name contains this")
	python := flag.String("python", "python3", "Python interpreter to compare with")
	compiled := flag.Bool("go", false, "also compare with the same statements compiled by Go, without the time of the compiler")
	flag.Parse()
	collector.Run() // as in a worker
	if err := table(*python, *only, *compiled, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// table prints a line for each program whose name contains only.
func table(python, only string, compiled bool, runs int) error {
	version, err := exec.Command(python, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", python, err)
	}
	fmt.Printf("%-24s %14s %14s %16s %8s %8s", "ms", "at top level", "in a function", strings.TrimSpace(string(version)), "top/func", "ratio")
	if compiled {
		fmt.Printf(" %10s %8s", "Go", "ratio")
	}
	fmt.Println()
	files, err := fs.Glob(programs, "testdata/*.cell")
	if err != nil {
		return err
	}
	logarithms, count := 0.0, 0.0
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".cell")
		if !strings.Contains(name, only) {
			continue
		}
		cell, err := programs.ReadFile(file)
		if err != nil {
			return err
		}
		script, err := programs.ReadFile("testdata/" + name + ".py")
		if err != nil {
			return err
		}
		times, err := compare(cells(string(cell)), python, string(script), runs)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		theirs, function, top := times[0], times[1], "-"
		share := "-"
		if len(times) == 3 {
			top, share = fmt.Sprintf("%.1f", milliseconds(times[2])), fmt.Sprintf("%.2f", float64(times[2])/float64(function))
		}
		ratio := float64(function) / float64(theirs)
		logarithms, count = logarithms+math.Log(ratio), count+1
		fmt.Printf("%-24s %14s %14.1f %16.1f %8s %8.2f", name, top, milliseconds(function), milliseconds(theirs), share, ratio)
		if declarations, body, ok := strings.Cut(string(cell), "// body\n"); ok && compiled {
			took, err := timeGo(declarations, body, runs)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Printf(" %10.2f %8.1f", milliseconds(took), float64(function)/float64(took))
		}
		fmt.Println()
	}
	if count > 0 {
		fmt.Printf("geometric mean of the ratios: %.2f\n", math.Exp(logarithms/count))
	}
	return nil
}

// cells returns a program as a cell, and once more with its statements at the top level if it has the line "// body" between its declarations
// and its statements.
func cells(src string) []string {
	declarations, body, ok := strings.Cut(src, "// body\n")
	if !ok {
		return []string{src}
	}
	return []string{declarations + "func program() {\n" + body + "}\nprogram()", src}
}

// compare returns the shortest CPU times of a Python program and of cells that do the same. Their runs alternate, so that a change of the machine's
// speed hits all.
func compare(cells []string, python, script string, runs int) ([]time.Duration, error) {
	best := make([]time.Duration, 1+len(cells))
	for range runs {
		took, expected, err := timePython(python, script)
		if err != nil {
			return nil, err
		}
		best[0] = shorter(best[0], took)
		for i, cell := range cells {
			took, printed, err := timeCell(cell)
			if err != nil {
				return nil, err
			}
			if printed != expected {
				return nil, fmt.Errorf("the cell prints %q and Python %q", printed, expected)
			}
			best[i+1] = shorter(best[i+1], took)
		}
	}
	return best, nil
}

// shorter returns the shorter one of two times; zero is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// timeCell returns the CPU time of a cell in a new session.
func timeCell(src string) (took time.Duration, printed string, err error) {
	var out bytes.Buffer
	session, err := interp.New(interp.Stdout(&out), interp.Stderr(os.Stderr))
	if err != nil {
		return 0, "", err
	}
	runtime.GC() // what earlier runs have left is not collected at the expense of this one
	start := used()
	_, err = session.Execute(context.Background(), 1, src)
	took = used() - start
	return took, out.String(), errors.Join(err, session.Close())
}

// timePython returns the CPU time of a Python program without the start of Python: a script around the
// program prints the time as its last line.
func timePython(python, src string) (took time.Duration, printed string, err error) {
	timed := "import time\nsource = " + fmt.Sprintf("%q", src) + "\ncode = compile(source, 'cell', 'exec')\nstart = time.process_time()\n" +
		"exec(code, {})\nprint(int((time.process_time() - start) * 1e9))\n"
	out, err := exec.Command(python, "-c", timed).Output()
	if err != nil {
		return 0, "", err
	}
	printed, last := cutLast(strings.TrimSuffix(string(out), "\n"))
	nanoseconds, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("the time: %w", err)
	}
	return time.Duration(nanoseconds), printed, nil
}

// paths are the import paths of the packages that programs use, by name.
var paths = map[string]string{
	"bufio": "bufio", "cmp": "cmp", "fmt": "fmt", "iter": "iter", "json": "encoding/json", "maps": "maps", "math": "math", "regexp": "regexp",
	"slices": "slices", "sort": "sort", "strconv": "strconv", "strings": "strings",
}

// timeGo returns the best time of a program whose statements are a compiled function.
func timeGo(declarations, body string, runs int) (time.Duration, error) {
	source := declarations + "\nfunc program() {\n" + body + "\n}\n\nfunc main() {\n\tbest := time.Hour\n" + fmt.Sprintf("\tfor range %d {\n", runs) +
		"\t\tstart := time.Now()\n\t\tprogram()\n\t\tbest = min(best, time.Since(start))\n\t}\n\tos.Stderr.WriteString(best.String())\n}\n"
	imports := "\"os\"\n\"time\"\n"
	for name, path := range paths {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(source) {
			imports += strconv.Quote(path) + "\n"
		}
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "main.go")
	if err := os.WriteFile(file, []byte("package main\n\nimport (\n"+imports+")\n\n"+source), 0o600); err != nil {
		return 0, err
	}
	var took bytes.Buffer
	run := exec.Command("go", "run", file)
	run.Stderr = &took
	if err := run.Run(); err != nil {
		return 0, fmt.Errorf("go run: %w\n%s", err, took.String())
	}
	return time.ParseDuration(took.String())
}

// cutLast splits off the last line.
func cutLast(text string) (before, last string) {
	i := strings.LastIndexByte(text, '\n')
	return text[:i+1], text[i+1:]
}
