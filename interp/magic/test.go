package magic

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/check"
)

// A Test is a test, benchmark, example or fuzz test of the session, or TestMain.
type Test struct {
	check.TestFunction
	Function any // the function, of the type that its declaration has
}

// A TestRun says which tests to run and how.
type TestRun struct {
	Tests []Test
	Flags map[string]string // flags of package testing, such as test.run
}

// testFlags are the flags of %test that package testing has too, with their descriptions. A flag whose default is a bool
// takes no value.
var testFlags = []struct {
	name    string
	boolean bool
}{
	{"run", false}, {"bench", false}, {"skip", false}, {"count", false}, {"benchtime", false}, {"parallel", false}, {"shuffle", false},
	{"v", true}, {"short", true}, {"failfast", true}, {"benchmem", true}, {"fullpath", true},
}

const testUsage = "%test [-v] [-bench regexp] [regexp]"

var test = command{
	name: "%test", usage: testUsage,
	doc: "runs the tests, benchmarks, examples and fuzz seeds of the session; a failed test fails the cell",
	prepare: func(text string) (action, error) {
		flags, err := parseTestFlags(text)
		return func(ctx context.Context, r *Run, values []any) error {
			run := TestRun{Flags: flags}
			for i, f := range r.tests {
				run.Tests = append(run.Tests, Test{f, values[i]})
			}
			return r.session.Test(ctx, run)
		}, err
	},
}

// parseTestFlags parses the arguments of %test, which are those of go test.
func parseTestFlags(text string) (map[string]string, error) {
	words, err := shellWords(text)
	if err != nil {
		return nil, fmt.Errorf("%%test: %w", err)
	}
	set := flag.NewFlagSet("%test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	flags := map[string]string{}
	for _, f := range testFlags {
		store := func(value string) error { flags["test."+f.name] = value; return nil }
		if f.boolean {
			set.BoolFunc(f.name, "", store)
		} else {
			set.Func(f.name, "", store)
		}
	}
	if err := set.Parse(words); err != nil {
		return nil, fmt.Errorf("%%test: %w: usage: %s; also -skip, -count, -benchtime, -benchmem, -parallel, -shuffle, -short and -failfast, as for go test",
			err, testUsage)
	}
	switch rest := set.Args(); {
	case len(rest) > 1, len(rest) == 1 && flags["test.run"] != "":
		return nil, errors.New("%test takes one regexp, of the names to run: " + testUsage)
	case len(rest) == 1:
		flags["test.run"] = rest[0]
	}
	for _, name := range []string{"run", "bench", "skip"} {
		if _, err := regexp.Compile(flags["test."+name]); err != nil {
			return nil, fmt.Errorf("%%test: %w", err)
		}
	}
	if n, set := flags["test.count"]; set {
		if _, err := strconv.ParseUint(n, 10, 32); err != nil {
			return nil, fmt.Errorf("%%test: -count needs a number, but has %q", n)
		}
	}
	return flags, nil
}

// shellWords splits text into words as a shell does, with quotes, and without anything else.
func shellWords(text string) (words []string, err error) {
	var word strings.Builder
	begun := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		case '\'', '"':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return nil, fmt.Errorf("the quotation mark %c is not closed", c)
			}
			word.WriteString(text[i+1 : i+1+end])
			i += 1 + end
			begun = true
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
