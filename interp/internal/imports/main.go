package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/interp"
)

//go:embed modules.txt
var rows []byte

// A row is a line of modules.txt.
type row struct{ name, module, cell, want string }

func main() {
	names := flag.String("modules", "", "comma-separated names in modules.txt; the default is all")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the last module's first import to this file")
	child := flag.Bool("child", false, "measure one module in this process (used internally)")
	flag.Parse()
	if err := run(strings.FieldsFunc(*names, func(r rune) bool { return r == ',' }), *profile, *child); err != nil {
		fmt.Fprintln(os.Stderr, "imports:", err)
		os.Exit(1)
	}
}

func run(names []string, profile string, child bool) error {
	list, err := read()
	if err != nil {
		return err
	}
	if !child {
		fmt.Printf("%-10s %10s %10s %10s %10s %10s\n", "ms", "New", "%get", "import", "again", "CPU")
	}
	for _, r := range list {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		if child {
			return measure(r, profile)
		}
		program, err := os.Executable()
		if err != nil {
			return err
		}
		command := exec.Command(program, "-child", "-modules", r.name, "-cpuprofile", profile)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		state := command.ProcessState
		fmt.Printf(" %10.0f\n", milliseconds(state.UserTime()+state.SystemTime()))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// read parses modules.txt.
func read() ([]row, error) {
	var list []row
	for _, f := range txtar.Parse(rows).Files {
		module, rest, _ := strings.Cut(string(f.Data), "\n")
		cell, want, ok := strings.Cut(rest, "\nwant\n")
		if !ok {
			return nil, fmt.Errorf("modules.txt: %s has no line %q", f.Name, "want")
		}
		list = append(list, row{f.Name, module, cell, want})
	}
	return list, nil
}

// measure measures a module and prints its line of the table.
func measure(r row, profile string) error {
	var out bytes.Buffer
	start := time.Now()
	session, err := interp.New(interp.Stdout(&out), interp.Stderr(os.Stderr))
	if err != nil {
		return err
	}
	took := []time.Duration{time.Since(start)}
	for number, cell := range []string{"%get " + r.module, r.cell, r.cell} {
		out.Reset()
		stop := func() error { return nil }
		if profile != "" && number == 1 {
			if stop, err = startProfile(profile); err != nil {
				return err
			}
		}
		start := time.Now()
		_, err := session.Execute(context.Background(), number+1, cell)
		took = append(took, time.Since(start))
		if err := stop(); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("cell %d: %w", number+1, err)
		}
		if number > 0 && out.String() != r.want {
			return fmt.Errorf("cell %d prints %q, want %q", number+1, out.String(), r.want)
		}
	}
	fmt.Printf("%-10s", r.name)
	for _, d := range took {
		fmt.Printf(" %10.0f", milliseconds(d))
	}
	return session.Close()
}

func startProfile(name string) (stop func() error, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
