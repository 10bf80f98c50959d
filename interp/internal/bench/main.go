package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/interp"
)

//go:embed testdata
var programs embed.FS

// runs is the number of runs of each program; the best one counts.
const runs = 3

func main() {
	only := flag.String("run", "", "run only the programs whose name contains this")
	python := flag.String("python", "python3", "Python interpreter to compare with")
	flag.Parse()
	if err := table(*python, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// table prints a line for each program whose name contains only.
func table(python, only string) error {
	version, err := exec.Command(python, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", python, err)
	}
	fmt.Printf("%-28s %10s %14s %8s\n", "ms", "a cell", strings.TrimSpace(string(version)), "ratio")
	files, err := fs.Glob(programs, "testdata/*.cell")
	if err != nil {
		return err
	}
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
		ours, printed, err := timeCell(string(cell))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		theirs, expected, err := timePython(python, string(script))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if printed != expected {
			return fmt.Errorf("%s: the cell prints %q and Python %q", name, printed, expected)
		}
		fmt.Printf("%-28s %10.0f %14.0f %8.2f\n", name, milliseconds(ours), milliseconds(theirs), float64(ours)/float64(theirs))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// timeCell times a cell, each run in a new session.
func timeCell(src string) (best time.Duration, printed string, err error) {
	for range runs {
		var out bytes.Buffer
		session, err := interp.New(interp.Stdout(&out), interp.Stderr(os.Stderr))
		if err != nil {
			return 0, "", err
		}
		start := time.Now()
		_, err = session.Execute(context.Background(), 1, src)
		took := time.Since(start)
		err = errors.Join(err, session.Close())
		if err != nil {
			return 0, "", err
		}
		if best == 0 || took < best {
			best, printed = took, out.String()
		}
	}
	return best, printed, nil
}

// timePython times a Python program without the start of Python: a script around the
// program prints the time as its last line.
func timePython(python, src string) (best time.Duration, printed string, err error) {
	timed := "import time\nsource = " + fmt.Sprintf("%q", src) + "\ncode = compile(source, 'cell', 'exec')\nstart = time.perf_counter()\n" +
		"exec(code, {})\nprint(int((time.perf_counter() - start) * 1e9))\n"
	for range runs {
		out, err := exec.Command(python, "-c", timed).Output()
		if err != nil {
			return 0, "", err
		}
		text, last := cutLast(strings.TrimSuffix(string(out), "\n"))
		nanoseconds, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return 0, "", fmt.Errorf("the time: %w", err)
		}
		took := time.Duration(nanoseconds)
		if best == 0 || took < best {
			best, printed = took, text
		}
	}
	return best, printed, nil
}

// cutLast splits off the last line.
func cutLast(text string) (before, last string) {
	i := strings.LastIndexByte(text, '\n')
	return text[:i+1], text[i+1:]
}
