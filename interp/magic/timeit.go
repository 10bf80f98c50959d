package magic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/internal/quantity"
)

const (
	// timeitRuns is how many runs there are without -r.
	timeitRuns = 7
	// leastRun is how long a run takes at least, unless -n says how many loops it has.
	leastRun = 200 * time.Millisecond
	// maxLoops bounds a run of a statement that takes no time.
	maxLoops = 1_000_000_000
)

var timeitLine = command{
	name: "%timeit", usage: "%timeit [-n loops] [-r runs] statement", doc: "runs a statement many times and prints the mean time",
	prepare: func(text string) (action, error) {
		o, end, err := parseTimeit(text)
		if err == nil && strings.TrimSpace(text[end:]) == "" {
			err = errors.New("%timeit needs a statement: %timeit f(), or %%timeit for the whole cell")
		}
		return o.run, err
	},
}

var timeitCell = command{
	name: "%%timeit", usage: "%%timeit [-n loops] [-r runs]", doc: "the same for the rest of the cell, whose variables are local to it",
	prepare: func(text string) (action, error) {
		o, end, err := parseTimeit(text)
		if err == nil && text[end:] != "" {
			err = fmt.Errorf("%%%%timeit times the lines below it: move %s there, or to an earlier cell if it only prepares them", text[end:])
		}
		return o.run, err
	},
}

// A timeit is a %timeit command.
type timeit struct {
	loops int // of a run; 0 to choose
	runs  int
}

// parseTimeit parses the options at the beginning of text. end is where the statement begins.
func parseTimeit(text string) (o timeit, end int, err error) {
	o.runs = timeitRuns
	skip := func() { end += len(text[end:]) - len(strings.TrimLeft(text[end:], " \t")) }
	for skip(); end+1 < len(text) && text[end] == '-' && 'a' <= text[end+1] && text[end+1] <= 'z'; skip() {
		value := &o.loops
		switch option := text[end : end+2]; option {
		case "-n":
		case "-r":
			value = &o.runs
		default:
			return o, end, fmt.Errorf("%%timeit has no option %s: its options are -n and -r; a statement that begins with a minus needs parentheses", option)
		}
		option := text[end : end+2]
		end += 2
		skip()
		digits := strings.TrimLeft(text[end:], "0123456789")
		number := text[end : len(text)-len(digits)]
		if *value, err = strconv.Atoi(number); err != nil || *value < 1 || *value > maxLoops || digits != "" && digits[0] != ' ' && digits[0] != '\t' {
			return o, end, fmt.Errorf("%%timeit needs a number from 1 to %d behind %s; a statement that begins with a minus needs parentheses", maxLoops, option)
		}
		end += len(number)
	}
	return o, end, nil
}

func (o timeit) run(ctx context.Context, r *Run, values []any) error {
	f, ok := values[0].(func([]struct{}))
	if !ok {
		return fmt.Errorf("%%timeit: the statement is a %T", values[0]) // cannot happen
	}
	ranks := r.session.Ranks()
	if o.loops == 0 && ranks.Number() > 1 {
		return errors.New("%timeit needs -n if there are several ranks, so that all of them run the statement equally often: %timeit -n 100 f()")
	}
	time1 := func(loops int) time.Duration {
		start := time.Now()
		f(make([]struct{}, loops))
		return time.Since(start)
	}
	if o.loops == 0 {
		o.loops = enoughLoops(time1)
	}
	var each []float64 // seconds of a loop
	for range o.runs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		each = append(each, time1(o.loops).Seconds()/float64(o.loops))
	}
	if ranks.Rank() > 0 {
		return nil // each rank has another time, and one is enough
	}
	mean, deviation := moments(each)
	_, err := fmt.Fprintf(r.session.Stdout(), "%s ± %s per loop (mean ± standard deviation of %s of %s)\n",
		seconds(mean), seconds(deviation), quantity.Plural(o.runs, "run"), quantity.Plural(o.loops, "loop"))
	return err
}

// enoughLoops returns the first of 1, 2, 5, 10, 20, … loops that take leastRun.
func enoughLoops(run func(loops int) time.Duration) int {
	for power := 1; ; power *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if n := power * digit; n >= maxLoops || run(n) >= leastRun {
				return n
			}
		}
	}
}

func moments(list []float64) (mean, deviation float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		deviation += (x - mean) * (x - mean) / float64(len(list))
	}
	return mean, math.Sqrt(deviation)
}
