package interp_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/interp"
)

// writeFiles writes the files of an archive below a directory.
func writeFiles(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const localFiles = `
-- go.mod --
module example.com/shop

go 1.25

require example.com/tax v0.0.0

replace example.com/tax => ./lib/tax
-- cart/cart.go --
package cart

import (
	"example.com/shop/internal/money"
	"example.com/tax"
)

type Cart struct{ Items []float64 }

func (c Cart) Total() string { return money.Format(tax.Add(sum(c.Items))) }

func sum(list []float64) (s float64) {
	for _, x := range list {
		s += x
	}
	return s
}

func Item(c Cart, i int) float64 { return c.Items[i] }

var Sold int

func Sell() int { Sold++; return Sold }
-- cart/cart_plan9.go --
package cart

func init() { undefined() }
-- cart/cart_test.go --
package cart

func init() { undefined() }
-- internal/money/money.go --
package money

import "fmt"

func Format(x float64) string { return fmt.Sprintf("%.2f EUR", x) }
-- lib/tax/go.mod --
module example.com/tax
-- lib/tax/tax.go --
package tax

func Add(x float64) float64 { return 1.5 * x }
-- other/go.mod --
module plain

go 1.26
-- other/plain.go --
package plain

const Word = "plain"
-- notebooks/text.txt --
`

// newLocalNotebook returns a notebook in the directory notebooks of a module, and the root of the
// module.
func newLocalNotebook(t *testing.T) (*notebook, string) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, localFiles)
	t.Chdir(filepath.Join(dir, "notebooks"))
	return newNotebook(t, modules(t, nil)), dir
}

// TestLocalPackages imports packages of the module that the notebook is in.
func TestLocalPackages(t *testing.T) {
	n, _ := newLocalNotebook(t)
	for _, row := range []struct{ in, want string }{
		{"import \"example.com/shop/cart\"\ncart.Cart{Items: []float64{1, 3}}.Total()", "= \"6.00 EUR\""},
		{"import \"example.com/shop/internal/money\"\nmoney.Format(2)", "= \"2.00 EUR\""},
		{"import \"example.com/tax\"\ntax.Add(2)", "= 3"},
		{"%get \"../other\"\nimport \"plain\"\nplain.Word", ""},
	} {
		got := n.run(row.in)
		if row.want != "" && got != row.want || row.want == "" && !strings.HasSuffix(got, "= \"plain\"") {
			t.Errorf("%s\ngot  %s\nwant %s", row.in, got, row.want)
		}
	}
	for _, row := range []struct{ in, want string }{
		{"import \"example.com/shop/none\"", "could not import example.com/shop/none (module example.com/shop has no package example.com/shop/none; if another module has it, add the line %get example.com/shop/none)"},
		{"%get ../none", "no such file or directory"},
		{"%get /", "run go mod init there"},
	} {
		if got := n.run(row.in); !strings.Contains(filepath.ToSlash(got), row.want) {
			t.Errorf("%s: got %s, want %s", row.in, got, row.want)
		}
	}
}

// TestBuildTags says that packages are compiled with the build tags of GOFLAGS, as the go command does.
func TestBuildTags(t *testing.T) {
	const files = `
-- go.mod --
module example.com/shop
-- season/usual.go --
//go:build !christmas

package season

const Discount = 0
-- season/christmas.go --
//go:build christmas

package season

const Discount = 10
`
	for flags, want := range map[string]string{"": "= 0", "-mod=mod -tags=easter,christmas": "= 10"} {
		dir := t.TempDir()
		writeFiles(t, dir, files)
		t.Chdir(dir)
		t.Setenv("GOFLAGS", flags)
		n := newNotebook(t, modules(t, nil))
		n.must(t, "import \"example.com/shop/season\"\nseason.Discount", want)
	}
}

// TestLocalTraceback says that a panic names the line in the file.
func TestLocalTraceback(t *testing.T) {
	n, _ := newLocalNotebook(t)
	_, err := n.Execute(t.Context(), 1, "import \"example.com/shop/cart\"\ncart.Item(cart.Cart{}, 2)")
	var failed *interp.Error
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if got := filepath.ToSlash(color.ReplaceAllString(strings.Join(failed.Traceback, "\n"), "")); !strings.Contains(got, "../cart/cart.go:19:") {
		t.Errorf("the traceback is\n%s", got)
	}
}

// TestLocalPackageChanges says that the next cell uses a file that was saved, and that earlier
// functions of cells call the new functions of the package, as with functions of cells.
func TestLocalPackageChanges(t *testing.T) {
	n, dir := newLocalNotebook(t)
	write := func(name, text string) {
		t.Helper()
		writeFiles(t, dir, "-- "+name+" --\n"+text)
	}
	n.must(t, "import (\n\t\"example.com/shop/cart\"\n\t\"example.com/shop/internal/money\"\n)\n"+
		"show := func(x float64) string { return money.Format(x) }\nc := cart.Cart{Items: []float64{2}}\nshow(1), c.Total(), cart.Sell()", "= \"1.00 EUR\", \"3.00 EUR\", 1")

	write("internal/money/money.go", "package money\n\nfunc Format(x float64) string { return \"much\" }\n")
	const again = "stderr: note: package example.com/shop/cart, or one that it imports, has changed, and its variables are initialized again: Sold\n"
	n.must(t, "show(1)", again+"= \"much\"")
	n.must(t, "c.Total(), cart.Cart{}.Total()", "= \"much\", \"much\"")
	n.must(t, "cart.Sell()", "= 1") // the variables of a package that was loaded again are new

	write("internal/money/money.go", "package money\n\nfunc Format(x float64) string {\n") // half saved
	const half = "stderr: note: package example.com/shop/internal/money cannot be interpreted: " +
		"../internal/money/money.go:3:33: expected '}', found 'EOF'; earlier cells use its previous version\n"
	if got := filepath.ToSlash(n.run("1 + 1")); got != half+"= 2" {
		t.Errorf("a file that is half saved: %s", got)
	}
	n.must(t, "show(1)", "= \"much\"") // the note appears once
	if got := n.run("money.Format(1)"); !strings.Contains(filepath.ToSlash(got), "../internal/money/money.go:3:") {
		t.Errorf("a file that is half saved: %s", got)
	}

	write("internal/money/money.go", "package money\n\nfunc Format(x float64, unit string) string { return unit }\n")
	write("cart/cart.go", "package cart\n\nfunc Sell() int { return 7 }\n")
	n.must(t, "money.Format(1, \"m\"), show(1)", again+"= \"m\", \"much\"") // another type: earlier code keeps the old one
	n.must(t, "cart.Sell()", "= 7")

	write("lib/tax/tax.go", "package tax\n\nfunc init() { panic(\"no\") }\n\nfunc Add(x float64) float64 { return x }\n")
	if got := n.run("import \"example.com/tax\"\ntax.Add(1)"); !strings.Contains(got, "no") {
		t.Errorf("an init function that panics: %s", got)
	}
	write("lib/tax/tax.go", "package tax\n\nfunc Add(x float64) float64 { return x }\n")
	n.must(t, "import \"example.com/tax\"\ntax.Add(1)", "= 1")
}

// TestInternalPackageOfAnother says that cells import internal packages only below their parents.
func TestInternalPackageOfAnother(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, localFiles)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "%get "+dir+"\nimport \"example.com/shop/cart\"\ncart.Sell()", "example.com/shop in "+dir+"\n= 1")
	got := n.run("import \"example.com/shop/internal/money\"\nmoney.Format(1)")
	if want := "use of internal package example.com/shop/internal/money not allowed: only code below example.com/shop may import it"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

const embedFiles = `
-- go.mod --
module example.com/site

go 1.25
-- site.go --
package site

import (
	"embed"
	"io/fs"
)

type Text string

var (
	//go:embed data/title.txt
	Title Text

	//go:embed data/title.txt
	raw []byte
)

//go:embed data "data/.more"
var Files embed.FS

var Names = names()

func names() (list []string) {
	fs.WalkDir(Files, ".", func(p string, d fs.DirEntry, err error) error {
		list = append(list, p)
		return err
	})
	return list
}

func Raw() string { return string(raw) }
-- data/title.txt --
hello
-- data/sub/a.txt --
A
-- data/.hidden --
-- data/.more --
-- bad/bad.go --
package bad

import _ "embed"

//go:embed none.txt
var Text string
-- worse/worse.go --
package worse

import _ "embed"

//go:embed worse.go
var Text int
`

// TestEmbed says that packages can embed files.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, embedFiles)
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import \"example.com/site\"\nsite.Title, site.Raw(), site.Names", `= "hello\n", "hello\n", [. data data/.more data/sub data/sub/a.txt data/title.txt]`)
	n.must(t, "b, err := site.Files.ReadFile(\"data/sub/a.txt\")\nstring(b), err", `= "A\n", <nil>`)
	writeFiles(t, dir, "-- data/title.txt --\nchanged\n")
	n.must(t, "site.Title, site.Raw()", "stderr: note: package example.com/site, or one that it imports, has changed, "+
		"and its variables are initialized again: Files, Names, Title, raw\n"+`= "changed\n", "changed\n"`)
	for path, want := range map[string]string{
		"bad":   "bad/bad.go:6:5: pattern none.txt: no matching files found",
		"worse": "worse/worse.go:6:5: go:embed cannot apply to a variable of type int",
	} {
		if got := n.run("import \"example.com/site/" + path + "\"\n" + path + ".Text"); !strings.Contains(filepath.ToSlash(got), want) {
			t.Errorf("%s: got %s", path, got)
		}
	}
}
