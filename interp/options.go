package interp

import (
	"context"
	"io"
	"os"

	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/stream"
	"github.com/quernlab/quern/interp/vm/compile"
)

// config has the values that options set.
type config struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	output         stream.Streams
	modules        module.Source
	ranks          magic.Ranks
	build          Builder
	adapt          func(*compile.Config) // changes the configuration of the compiler for the VM; for tests
}

// An Option configures a new Session.
type Option func(*config)

// Stdin sets what cells read as standard input, by fmt.Scan and the like or by passing
// os.Stdin to a function of packages fmt, bufio, io and some others. A read that fails, except
// with io.EOF, fails the cell. The default is os.Stdin.
func Stdin(r io.Reader) Option { return func(c *config) { c.stdin = r } }

// Stdout sets where fmt.Print and the like write. The default is os.Stdout. What a cell writes
// to os.Stdout itself always goes there.
func Stdout(w io.Writer) Option { return func(c *config) { c.stdout = w } }

// Stderr sets where print, println and the session's own notes go. The default
// is os.Stderr.
func Stderr(w io.Writer) Option { return func(c *config) { c.stderr = w } }

// Output sets the streams of each cell. The output of a goroutine goes to the streams of the
// cell that started it, even after that cell has ended. The output of goroutines that belong to
// no cell goes to the streams of cell 0. Output replaces Stdout and Stderr.
func Output(of func(cell int) (stdout, stderr io.Writer)) Option {
	return func(c *config) { c.output = of }
}

// Modules sets where %get finds modules. The default is the go command, or the
// proxies of GOPROXY where there is none.
func Modules(source module.Source) Option { return func(c *config) { c.modules = source } }

// Ranks sets the processes that run each cell together with this one. The default is none.
func Ranks(r magic.Ranks) Option { return func(c *config) { c.ranks = r } }

// A Program is a program of Quern with packages of modules compiled in, which %get -compiled has built.
type Program struct {
	Path     string
	Packages []string // path@version of the modules and packages that were asked for
	Go       string   // the Go release that built it
	Omitted  []string // packages that do not compile, each with the reason
}

// A Builder builds a program with modules or packages compiled in, given as path or path@version. It reports each step.
type Builder func(ctx context.Context, packages []string, report func(step string)) (Program, error)

// Build sets what %get -compiled calls. Without it the command is an error.
func Build(b Builder) Option { return func(c *config) { c.build = b } }

// A CellOption configures one execution of a cell.
type CellOption func(*execution)

// execution has the values that cell options set.
type execution struct {
	silent, attended bool
	id               string   // of the cell in the front end
	deleted          []string // ids of cells
	number           int      // of the stale cell that runs again; 0 if none does
	again            string   // its Key
	step             int      // see magic.Run.StepsFrom
}

// ID sets the id of the cell in the front end, which stays the same if the cell is edited and runs again. %stale uses it.
func ID(id string) CellOption { return func(e *execution) { e.id = id } }

// Deleted has the ids of cells that the notebook no longer has.
func Deleted(ids ...string) CellOption { return func(e *execution) { e.deleted = ids } }

// Attended says that a person sees the cell run: a deadlock is reported, and the cell waits for an interrupt. Otherwise it fails.
func Attended() CellOption { return func(e *execution) { e.attended = true } }

// Silent says that nobody sees how the cell ends, as it is with cells that a front end runs for itself. A panic of a goroutine
// of an earlier cell then fails the cell after it.
func Silent() CellOption { return func(e *execution) { e.silent = true } }

func newConfig(options []Option) *config {
	c := &config{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, modules: module.Default(), ranks: magic.Alone{}, adapt: func(*compile.Config) {}}
	for _, o := range options {
		o(c)
	}
	return c
}
