package export_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/export"
	"github.com/quernlab/quern/interp/module"
)

// modules are the files of the modules of the tests, by path@version.
var modules = map[string]map[string]string{
	"example.com/greet@v1.0.0": {
		"go.mod": "module example.com/greet\n\ngo 1.20\n\nrequire (\n\texample.com/dep v1.0.0\n\texample.com/Upper v1.2.0\n)\n",
		"greet.go": `package greet

import (
	"fmt"

	"example.com/dep"
	"example.com/greet/internal/words"
)

type Level int

func (l Level) String() string { return fmt.Sprintf("level %d", int(l)) }

type Person struct{ Name string }

var Count int

func To(name string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("nobody to greet")
	}
	Count++
	return words.Hello + dep.Quote(name), nil
}

func Map[T, U any](list []T, f func(T) U) (out []U) {
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}
`,
		"greet_test.go":           "package greet\nimport _ \"example.com/nowhere\"\n",
		"internal/words/words.go": "package words\n\nconst Hello = \"hello \"\n\ntype Word string\n",
		"lib/go-more/more.go":     "package more\n\nimport \"example.com/greet/internal/words\"\n\nfunc Word() words.Word { return \"word\" }\n",
	},
	"example.com/greet@v1.1.0": {"go.mod": "module example.com/greet\n", "greet.go": "package greet\n\nconst New = true\n"},
	"example.com/dep@v1.0.0":   {"go.mod": "module example.com/dep\n", "dep.go": "package dep\n\nfunc Quote(s string) string { return \"'\" + s + \"'\" }\n"},
	"example.com/dep@v1.1.0":   {"go.mod": "module example.com/dep\n", "dep.go": "package dep\n\nfunc Quote(s string) string { return \"<\" + s + \">\" }\n"},
	"example.com/Upper@v1.2.0": {"go.mod": "module example.com/Upper\n\ngo 1.20\n", "x.go": "package upper\n\nconst X = 12\n"},
	// Its go.mod lists an older version of dep than middle requires.
	"example.com/untidy@v1.0.0": {
		"go.mod":   "module example.com/untidy\n\ngo 1.20\n\nrequire (\n\texample.com/middle v1.0.0\n\texample.com/dep v1.0.0 // indirect\n)\n",
		"x.go":     "package untidy\n\nimport \"example.com/middle\"\n\nvar X = middle.X\n",
		"sub/x.go": "package sub\n\nconst X = 1\n",
	},
	"example.com/middle@v1.0.0": {
		"go.mod": "module example.com/middle\n\ngo 1.20\n\nrequire example.com/dep v1.1.0\n",
		"x.go":   "package middle\n\nimport \"example.com/dep\"\n\nvar X = dep.Quote(\"x\")\n",
	},
	// Its go.mod has no go directive, but it uses generics.
	"example.com/old@v1.0.0": {"go.mod": "module example.com/old\n", "x.go": "package old\n\nfunc Sum[T int | float64](a, b T) T { return a + b }\n"},
	// It requires a newer version than the one compiled into the session.
	"example.com/ahead@v1.0.0": {
		"go.mod": "module example.com/ahead\n\ngo 1.20\n\nrequire gonum.org/v1/gonum v0.99.0\n",
		"x.go":   "package ahead\n\nimport \"gonum.org/v1/gonum/floats\"\n\nvar X = floats.Sum([]float64{1, 2})\n",
	},
	"gonum.org/v1/gonum@v0.99.0": {"go.mod": "module gonum.org/v1/gonum\n"},
}

// serve makes a module proxy for the go command, with the modules of the tests and the dependencies of our
// module.
func serve(t *testing.T) {
	t.Helper()
	goTool := testenv.Command(t, "go")
	cache, err := exec.Command(goTool, "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, files := range modules {
		path, version, _ := strings.Cut(name, "@")
		escaped, err := xmodule.EscapePath(path)
		if err != nil {
			t.Fatal(err)
		}
		source := t.TempDir()
		for file, text := range files {
			write(t, filepath.Join(source, filepath.FromSlash(file)), []byte(text))
		}
		at := filepath.Join(root, filepath.FromSlash(escaped), "@v")
		write(t, filepath.Join(at, version+".mod"), []byte(files["go.mod"]))
		write(t, filepath.Join(at, version+".info"), []byte(`{"Version":"`+version+`"}`))
		archive, err := os.Create(filepath.Join(at, version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(zip.CreateFromDir(archive, xmodule.Version{Path: path, Version: version}, source), archive.Close()); err != nil {
			t.Fatal(err)
		}
		list, err := os.OpenFile(filepath.Join(at, "list"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_, err = list.WriteString(version + "\n")
		if err := errors.Join(err, list.Close()); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(root)+",file://"+filepath.ToSlash(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Cleanup(func() {
		if out, err := exec.Command(goTool, "clean", "-modcache").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func TestGet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	serve(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, cells, source string
		require             []string // the expected requirements in go.mod
	}{
		{"packages", `-- --
%get fmt
%get example.com/greet@v1.0.0
import "example.com/greet"
greet.To("you")
-- --
fmt := 1 // hides what prints
%get example.com/Upper
import u "example.com/Upper"
import "example.com/greet/lib/go-more"
fmt + u.X
-- --
people := []greet.Person{{Name: "Ann"}, {Name: "Bob"}}
greet.Map(people, func(p greet.Person) string { return p.Name })
-- raises-exception --
greet.To("")
-- --
greet.Level(greet.Count)
-- --
type shy struct{ greet.Person }
func (s shy) String() string { return "shy " + s.Name }
shy{people[0]}.String()
-- --
more.Word()
`, root, []string{"example.com/Upper v1.2.0", "example.com/greet v1.0.0", "example.com/dep v1.0.0 // indirect"}},
		{"two versions, the last before it is used", `-- --
%get example.com/dep@v1.1.0
-- --
%get example.com/dep@v1.0.0
-- --
import "example.com/dep"
dep.Quote("a")
`, "", []string{"example.com/dep v1.0.0"}},
		{"never imported", "-- --\n%get example.com/dep@v1.1.0\n1 + 1\n", "", nil},
		{"with packages of quern", `-- --
%get example.com/greet@v1.0.0
import "example.com/greet"
people := []greet.Person{{Name: "Ann"}, {Name: "Bob"}}
display.Table(people)
`, root, []string{"example.com/greet v1.0.0", "example.com/dep v1.0.0 // indirect"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			list := cells(row.cells)
			program, err := export.Program(t.Context(), row.name, list, module.Default())
			if err != nil {
				t.Fatal(err)
			}
			mod, sum, err := export.Module("example.com/made", program, row.source)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			write(t, filepath.Join(folder, "main.go"), program.Main)
			write(t, filepath.Join(folder, "go.mod"), mod)
			write(t, filepath.Join(folder, "go.sum"), sum)
			if err := (module.GoCommand{}).Complete(t.Context(), folder); err != nil {
				t.Fatalf("%v\n%s", err, mod)
			}
			if mod, err = os.ReadFile(filepath.Join(folder, "go.mod")); err != nil {
				t.Fatal(err)
			}
			var required []string
			for line := range strings.Lines(string(mod)) {
				if line = strings.TrimPrefix(strings.TrimSpace(line), "require "); strings.HasPrefix(line, "example.com/") {
					required = append(required, line)
				}
			}
			slices.Sort(required)
			if want := slices.Sorted(slices.Values(row.require)); !slices.Equal(required, want) {
				t.Errorf("go.mod is\n%s\nwant %q", mod, want)
			}
			run := func(arguments ...string) string {
				command := exec.Command("go", arguments...)
				command.Dir = folder
				command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
				out, err := command.Output()
				if err != nil {
					var failed *exec.ExitError
					errors.As(err, &failed)
					t.Fatalf("go %s: %v\n%s\n%s", arguments[0], err, failed.Stderr, program.Main)
				}
				return string(out)
			}
			run("vet", ".")
			want := progress.ReplaceAllString(executed(t, list, interp.Modules(module.Default())), "")
			if got := run("run", "."); got != want {
				t.Errorf("the program prints\n%s\nthe cells print\n%s\nthe program is\n%s", got, want, program.Main)
			}
		})
	}
}

// progress matches what %get shows if it takes more than a moment.
var progress = regexp.MustCompile(`\r?%get \[[^\r\n]*\n?`)

func TestGetRejected(t *testing.T) {
	serve(t)
	for _, row := range []struct {
		name, cells, want string
	}{
		{"no such module", "-- --\n1\n-- --\n\n%get example.com/nothing@v1.0.0", "cell 2, line 2: %get example.com/nothing@v1.0.0: "},
		{"no module", "-- --\n%get", "cell 1, line 1: %get needs one module"},
		{"two modules", "-- --\n%get example.com/dep example.com/greet", "cell 1, line 1: %get needs one module"},
		{"another command", "-- --\n%get example.com/dep\n!ls", "cell 1, line 2: kernel commands cannot be exported"},
		{"not got", "-- --\nimport \"example.com/dep\"\ndep.Quote(\"a\")", "cell 1, line 1: does not compile: "},
		{"got later", "-- --\nimport \"example.com/dep\"\n-- --\n%get example.com/dep", "cell 1, line 1: does not compile: "},
		{"no such package", "-- --\n%get example.com/dep\nimport \"example.com/dep/none\"\nnone.X", "cell 1, line 2: does not compile: "},
		{"another version", "-- --\n%get example.com/dep@v1.0.0\nimport \"example.com/dep\"\ndep.Quote(\"a\")\n-- --\n%get example.com/dep@v1.1.0",
			"cell 2, line 1: changes the version of example.com/dep@v1.0.0, which earlier cells use, to v1.1.0, and a program has only one version of a module"},
		{"another version of what it uses", "-- --\n%get example.com/greet@v1.0.0\nimport \"example.com/greet\"\ngreet.To(\"a\")\n-- --\n1\n%get example.com/dep@v1.1.0",
			"cell 2, line 2: changes the version of example.com/dep@v1.0.0, which earlier cells use, to v1.1.0"},
		{"an untidy module", "-- --\n%get example.com/untidy\n-- --\nimport \"example.com/untidy\"\nuntidy.X",
			"cell 2: uses example.com/dep@v1.0.0, but the modules together need version v1.1.0: add %get example.com/dep@v1.1.0"},
		{"newer than what is compiled in", "-- --\n%get example.com/ahead\nimport \"example.com/ahead\"\nahead.X", "cell 1: a module of %get needs gonum.org/v1/gonum v0.99.0, but quern is built with version "},
		{"a language that its module does not ask for", "-- --\n%get example.com/old\nimport \"example.com/old\"\nold.Sum(1, 2)", "cell 1, line 2: does not compile: "},
		{"a name that only the module has", "-- --\n%get example.com/greet@v1.0.0\nimport \"example.com/greet/lib/go-more\"\nw := more.Word()\n-- --\nw",
			"cell 1, line 3: other cells or functions use w, but the program cannot name its type words.Word"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := export.Program(t.Context(), "x", cells(row.cells), module.Default())
			var rejection *export.Error
			if !errors.As(err, &rejection) || !strings.HasPrefix(rejection.Problems[0].String(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
	if _, err := export.Program(t.Context(), "x", cells("-- --\n%get example.com/untidy\nimport \"example.com/untidy/sub\"\nsub.X"), module.Default()); err != nil {
		t.Errorf("a part of an untidy module: %v", err)
	}
}
