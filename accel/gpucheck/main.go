package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	device   string
	quick    bool
	chown    bool
	python   string
	out      string
	programs string
	limit    time.Duration

	// Of the process of a part.
	result     string        // file for its report
	from       int           // index of its first piece
	pieceLimit time.Duration // time limit of one piece
	models     string        // of part smoke: names, separated by commas; all if empty
}

// simulated reports whether the GPU is simulated.
func (o options) simulated() bool { return strings.HasPrefix(o.device, "simulated") }

// Exit statuses.
const (
	exitWrong      = 1 // a result is wrong
	exitUsage      = 2
	exitIncomplete = 3 // nothing is wrong, but a part is missing, failed or did not fit into the time
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start parses the command line and returns the exit status.
func start(ctx context.Context, args []string, out, errs io.Writer) int {
	usage := func(format string, values ...any) int {
		fmt.Fprintf(errs, "gpu-check: "+format+"\nusage: gpu-check tell|compare [flags]; -h lists the flags\n", values...)
		return exitUsage
	}
	if len(args) == 0 {
		return usage("no command")
	}
	c, part := commandNamed(args[0]), ""
	args = args[1:]
	if c == nil && len(args) > 0 { // the process of a part: part NAME
		part, args = args[0], args[1:]
	}
	o := options{}
	flags := flag.NewFlagSet("gpu-check", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.device, "device", "cuda", "`device` to check: cuda, cuda:1, or simulated")
	flags.BoolVar(&o.quick, "quick", false, "small sizes, to test the program itself")
	flags.BoolVar(&o.chown, "chown", false, "give files of the driver and of NVIDIA's libraries that belong to other users to this user, because Quern does not load them otherwise")
	flags.StringVar(&o.python, "python", "python3", "Python `interpreter`, whose PyTorch is compared")
	flags.StringVar(&o.out, "out", filepath.Join("gpu", "results"), "`folder` of the result files")
	flags.StringVar(&o.programs, "programs", "", "`folder` of "+kernelProgram+" and "+benchProgram+"; by default that of this program")
	flags.DurationVar(&o.limit, "limit", 0, "time `limit` of the command; by default 205s for tell and 325s for compare")
	flags.StringVar(&o.result, "result", "", "of a part: `file` for its report")
	flags.IntVar(&o.from, "from", 0, "of a part: `index` of its first piece")
	flags.DurationVar(&o.pieceLimit, "patience", defaultPatience, "`time` limit of one piece of a part")
	flags.StringVar(&o.models, "models", "", "of part smoke: `names` of models, separated by commas")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() > 0 {
		return usage("unexpected argument %q", flags.Arg(0))
	}
	if part != "" {
		p := partNamed(part)
		if p == nil {
			return usage("there is no part %q", part)
		}
		return p.process(ctx, o, out, errs)
	}
	if c == nil {
		return usage("unknown command")
	}
	return c.run(ctx, o, out, errs)
}

// command is tell or compare.
type command struct {
	name  string
	limit time.Duration
	parts []part
}

func commandNamed(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

func partNamed(name string) *part {
	for _, c := range commands() {
		if i := slices.IndexFunc(c.parts, func(p part) bool { return p.name == name }); i >= 0 {
			return &c.parts[i]
		}
	}
	for _, p := range innerParts {
		if p.name == name {
			return &p
		}
	}
	return nil
}

// run runs the parts one after the other, each in its own process: after an error such as an
// invalid memory access, the GPU is unusable for the process with the error, but not for others.
func (c *command) run(ctx context.Context, o options, out, errs io.Writer) int {
	began := time.Now()
	if o.limit == 0 {
		o.limit = c.limit
	}
	end := began.Add(o.limit - gracePeriod) // an interrupted process has this time to end
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	cache, err := os.MkdirTemp("", "gpu-check")
	if err != nil {
		fmt.Fprintf(errs, "gpu-check: %v\n", err)
		return exitIncomplete
	}
	defer os.RemoveAll(cache)
	r := &report{Command: c.name, Date: began.UTC().Format(time.RFC3339), Device: o.device, Name: o.device, Quick: o.quick, Limit: o.limit.Seconds()}
	reserved := time.Duration(0)
	for _, p := range c.parts {
		reserved += p.reserve
	}
	scale := float64(o.limit-gracePeriod) / float64(reserved)
	for _, p := range c.parts {
		reserved -= p.reserve
		begin := time.Now()
		result := partResult{Name: p.name, Status: missing, Why: r.Missing}
		switch {
		case r.Missing != "" && p.name != machinePart:
		case ctx.Err() != nil:
			result.Status, result.Why = incomplete, "no time was left"
		default:
			fmt.Fprintf(out, "\n== %s: %s\n", p.name, p.description)
			own, cancel := context.WithDeadline(ctx, end.Add(-time.Duration(scale*float64(reserved))))
			result = r.apart(own, o, p, cache, out)
			cancel()
		}
		result.Seconds = time.Since(begin).Seconds()
		r.Parts = append(r.Parts, result)
		r.Seconds = time.Since(began).Seconds()
		if _, err := r.save(o.out); err != nil { // after each part, so that no result is lost
			fmt.Fprintf(errs, "gpu-check: the results are not saved: %v\n", err)
		}
	}
	table := r.table()
	fmt.Fprint(out, table)
	path, err := r.save(o.out)
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(path, ".json")+".txt", []byte(table), 0o644)
	}
	if err != nil {
		fmt.Fprintf(errs, "gpu-check: the results are not saved: %v\n", err)
		return exitIncomplete
	}
	fmt.Fprintf(out, "%.0f s, written to %s\n", time.Since(began).Seconds(), path)
	return r.exit()
}
