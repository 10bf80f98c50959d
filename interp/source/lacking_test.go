package source

import (
	"go/types"
	"strings"
	"testing"
)

// lackingSource has packages that lead to a function in assembly in several ways. Names begin with Lacks if a call may reach it.
const lackingSource = `
-- a/a.go --
package a

import (
	"example.com/m/b"
	asm "example.com/m/c"
	. "example.com/m/d"
)

func LacksDirectly() { asm.Missing() }
func LacksByOther()  { LacksDirectly() }
func LacksByPackage() { b.Calls() }
func LacksByDot()    { Dotted() }
func LacksByValue()  { f := asm.Missing; f() }
func LacksByVariable() { handler() }
func LacksByMethod() { b.New().Run() }
func LacksByMethodOfOther() { b.Goer.Go() }
func LacksByConversion() { var x any = asm.S(1); _ = x }
func LacksByEmbedded() { var e struct{ *asm.T }; e.Work() }
func LacksByInterface() { b.Do(asm.T{}) }
func LacksByMethodValue() { work := (*asm.T).Work; work(nil) }
func LacksByTable()  { table["a"]() }
func LacksByLiteral() { func() { defer LacksByOther() }() }
func LacksByVariableOfAssembly() { _ = asm.Linked() }

func Fine()          { fine(); asm.Fine() }
func FineByName(asm other) { asm.Missing() }
func FineByMethod()  { other{}.Work() }
func FineByOther()   { b.Fine() }
func FineConstant() int { return asm.Constant }

type other struct{}
func (other) Missing() {}
func (other) Work() {}
func fine() {}
var handler = asm.Missing
var table = map[string]func(){"a": asm.Missing}
-- b/b.go --
package b

import "example.com/m/c"

type runner struct{ t *c.T }
func New() *runner { return &runner{} }
func (r *runner) Run() { r.t.Work() }
type goer struct{}
func (goer) Go() { c.Missing() }
var Goer goer
func Calls() { calls() }
func calls() { c.Missing() }
func Do(w interface{ Work() }) { w.Work() }
func Fine() { New() }
-- c/c.go --
package c

import _ "unsafe"

const Constant = 1
type T struct{}
func (T) Work() { Missing() }
type S int
func (S) String() string { Missing(); return "" }
func Missing()
func Fine() {}
func Linked() int { return linked }
//go:linkname linked runtime.linked
var linked int
-- c/c.s --
-- d/d.go --
package d

import "example.com/m/c"

func Dotted() { c.Missing() }
`

// TestLacking checks that code that may call a function without a body in Go is rejected before it runs although functions are
// compiled at their first call, and that other code is not.
func TestLacking(t *testing.T) {
	t.Parallel()
	archive, _ := newLoader(t, lackingSource)
	p, err := archive.Import("example.com/m/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.Scope().Names() {
		f, ok := p.Scope().Lookup(name).(*types.Func)
		if !ok || !f.Exported() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l, _ := newLoader(t, lackingSource)
			l.Later()
			call := "a." + name
			if f.Signature().Params().Len() == 0 {
				call += "()"
			} else {
				call = "_ = " + call
			}
			lacks := false
			for _, part := range use(t, l, call) {
				lacks = lacks || part.Missing != nil
			}
			if want := strings.HasPrefix(name, "Lacks"); lacks != want {
				t.Errorf("%s lacks a function: %v, want %v", name, lacks, want)
			}
		})
	}
}
